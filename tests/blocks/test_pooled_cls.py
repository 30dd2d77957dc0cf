"""[CLS] states with and without a graph, and the graph there and back."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from longtail.blocks.onnx_graph import OnnxGraph
from longtail.blocks.pooled_cls import GRAPH, PooledCls
from longtail.blocks.transformer import Transformer, cls_states
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


def saved(pooled: PooledCls, place: Path) -> VerifiedFolder:
    place.mkdir()
    (place / "other.txt").write_text("there is something in every folder")
    pooled.save_graph(place)
    write_manifest(place)
    return open_folder(place)


def test_torch_by_itself(encoder: Transformer, tmp_path: Path) -> None:
    pooled = PooledCls(encoder, 5)
    assert pooled.width == 2 * WIDTH
    with torch.no_grad():
        assert torch.equal(pooled(some(encoder)), cls_states(encoder(some(encoder)), 2, last=False))
    folder = saved(pooled, tmp_path / "m")
    assert GRAPH not in folder
    again = PooledCls(encoder, 5)
    again.load_graph(folder)
    assert again.graph is None


def test_the_graph_is_kept_and_used_where_it_can_be(
    encoder: Transformer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pooled = PooledCls(encoder, 1)
    pooled.graph = OnnxGraph.of(encoder, 1)
    again = PooledCls(encoder, 1)
    again.load_graph(saved(pooled, tmp_path / "one"))
    assert again.graph is not None
    with torch.no_grad():
        plain = PooledCls(encoder, 1)(some(encoder))
        assert torch.equal(again(some(encoder)), pooled(some(encoder)))
        np.testing.assert_allclose(again(some(encoder)), plain, atol=1e-5)

        monkeypatch.setitem(sys.modules, "onnxruntime", None)
        without = PooledCls(encoder, 1)
        without.load_graph(open_folder(tmp_path / "one"))
        assert torch.equal(without(some(encoder)), plain)
        saved(without, tmp_path / "two")
    assert (tmp_path / "two" / GRAPH).read_bytes() == (tmp_path / "one" / GRAPH).read_bytes()
