"""Pooled states with and without a graph, and the graph there and back."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from longtail.blocks.onnx_graph import OnnxGraph
from longtail.blocks.pooled_states import GRAPH, PooledStates
from longtail.blocks.transformer import Pooling, Transformer, pooled_states
from longtail.storage import VerifiedFolder, open_folder
from longtail.storage.manifest import write_manifest
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Padded, Subwords
from tests.tiny_encoders import WIDTH, write_transformer

pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Transformer:
    return Transformer.of(EncoderFolder.of(write_transformer(tmp_path_factory.mktemp("bert")))).eval()


def some(encoder: Transformer) -> Padded:
    return Subwords(encoder.folder)(["red apples", "tree"]).take(np.arange(2))


def saved(pooled: PooledStates, place: Path) -> VerifiedFolder:
    place.mkdir()
    (place / "other.txt").write_text("there is something in every folder")
    pooled.save_graph(place)
    write_manifest(place)
    return open_folder(place)


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_torch_by_itself(encoder: Transformer, tmp_path: Path, pooling: Pooling) -> None:
    pooled = PooledStates(encoder, 5, pooling)
    assert pooled.width == 2 * WIDTH
    with torch.no_grad():
        mask = torch.from_numpy(some(encoder).mask)
        expected = pooled_states(encoder(some(encoder)), mask, 2, pooling, last=False)
        assert torch.equal(pooled(some(encoder)), expected)
    folder = saved(pooled, tmp_path / "m")
    assert GRAPH not in folder
    again = PooledStates(encoder, 5, pooling)
    again.load_graph(folder)
    assert again.graph is None


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_the_graph_is_kept_and_used_where_it_can_be(
    encoder: Transformer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pooling: Pooling
) -> None:
    pooled = PooledStates(encoder, 1, pooling)
    pooled.graph = OnnxGraph.of(encoder, 1, pooling)
    again = PooledStates(encoder, 1, pooling)
    again.load_graph(saved(pooled, tmp_path / "one"))
    assert again.graph is not None
    with torch.no_grad():
        plain = PooledStates(encoder, 1, pooling)(some(encoder))
        assert torch.equal(again(some(encoder)), pooled(some(encoder)))
        np.testing.assert_allclose(again(some(encoder)), plain, atol=1e-5)

        monkeypatch.setitem(sys.modules, "onnxruntime", None)
        without = PooledStates(encoder, 1, pooling)
        without.load_graph(open_folder(tmp_path / "one"))
        assert torch.equal(without(some(encoder)), plain)
        saved(without, tmp_path / "two")
    assert (tmp_path / "two" / GRAPH).read_bytes() == (tmp_path / "one" / GRAPH).read_bytes()
