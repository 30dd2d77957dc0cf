"""The graph gives what torch gives, for any number of texts and tokens; its file is the same each time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from longtail import threads
from longtail.blocks.onnx_graph import OnnxGraph
from longtail.blocks.transformer import Pooling, Transformer, pooled_states
from longtail.errors import MissingPackageError, ModelIntegrityError, UsageError
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Padded, Subwords
from tests.tiny_encoders import WIDTH, write_roberta, write_transformer, write_xlnet

pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")
TEXTS = ["red apples", "pear", "", "green apple red pear red", "tree"]


def encoder_of(write: Callable[[Path], Path], place: Path) -> Transformer:
    return Transformer.of(EncoderFolder.of(write(place))).eval()


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Transformer:
    return encoder_of(write_transformer, tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def graph(encoder: Transformer) -> OnnxGraph:
    return OnnxGraph.of(encoder, 1, "cls")


def tokens_of(encoder: Transformer, rows: list[int]) -> Padded:
    return Subwords(encoder.folder)(TEXTS).take(np.array(rows))


@pytest.mark.parametrize("write", [write_transformer, write_roberta])
@pytest.mark.parametrize(("layers", "pooling"), [(1, "mean"), (5, "cls"), (5, "mean")])
def test_it_gives_what_torch_gives(
    write: Callable[[Path], Path], layers: int, pooling: Pooling, tmp_path: Path
) -> None:
    encoder = encoder_of(write, tmp_path)
    graph = OnnxGraph.of(encoder, layers, pooling)
    for rows in ([0, 1, 2, 3, 4], [3], [2], [1, 4]):
        tokens = tokens_of(encoder, rows)
        with torch.no_grad():
            mask = torch.from_numpy(tokens.mask)
            states = encoder(tokens)
        expected = pooled_states(states, mask, layers, pooling, last=encoder.folder.cls_last).numpy()
        found = graph(tokens)
        assert found.shape == (len(rows), min(layers, 2) * WIDTH)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_the_same_file_each_time_without_a_word_of_this_machine(
    encoder: Transformer, graph: OnnxGraph
) -> None:
    assert OnnxGraph.of(encoder, 1, "cls").graph == graph.graph
    for trace in (b"site-packages", b"transformer.py", str(Path.home()).encode()):
        assert trace not in graph.graph


def test_threads_are_those_of_the_kernels(encoder: Transformer, graph: OnnxGraph) -> None:
    tokens = tokens_of(encoder, [0, 3])
    found = []
    for jobs in (1, 2):
        with threads.limit(jobs):
            found.append(graph(tokens))
            assert graph._ready().get_session_options().intra_op_num_threads == jobs
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)


def test_a_kind_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"kind 'xlnet'.*stays in torch"):
        OnnxGraph.of(encoder_of(write_xlnet, tmp_path), 1, "mean")


def test_a_broken_graph_and_one_of_another_width(encoder: Transformer, graph: OnnxGraph) -> None:
    tokens = tokens_of(encoder, [0])
    with pytest.raises(ModelIntegrityError, match="cannot read the encoder's graph"):
        OnnxGraph(graph.graph[:200], WIDTH)(tokens)
    with pytest.raises(ModelIntegrityError, match="numbers each"):
        OnnxGraph(graph.graph, WIDTH + 1)(tokens)


def test_what_is_missing_is_named(
    encoder: Transformer, graph: OnnxGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    fresh = OnnxGraph(graph.graph, WIDTH)
    assert not fresh.usable
    with pytest.raises(MissingPackageError, match=r"longtail\[onnx\]"):
        fresh(tokens_of(encoder, [0]))
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(MissingPackageError, match="onnxscript"):
        OnnxGraph.of(encoder, 1, "cls")
