"""Exported encoders: the same predictions, saved with the model; a graph that differs is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from longtail import threads
from longtail.blocks.onnx_graph import OnnxGraph
from longtail.errors import LongtailError
from longtail.systems import load
from longtail.systems.gudn.system import Gudn
from longtail.systems.xgrank.system import Xgrank
from longtail.training.encoder_export import compare
from tests.planted import Parts
from tests.systems.gudn.worlds import config as gudn_config
from tests.systems.xgrank.worlds import config as xgrank_config
from tests.tiny_encoders import write_syllables

pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_syllables(tmp_path_factory.mktemp("syllables"))


@pytest.mark.parametrize("kind", ["xgrank", "gudn"])
def test_predictions_stay_the_same_and_the_graph_is_saved(
    kind: str, encoder: Path, tiny: Parts, tmp_path: Path
) -> None:
    with threads.limit(1):
        fresh = Xgrank(xgrank_config(encoder)) if kind == "xgrank" else Gudn(gudn_config(encoder))
        model = fresh.fit(tiny.train, valid=tiny.valid)
        before = model.predict(tiny.test, k=5)
        found = model.export_encoders()
        assert len(found) == 1
        assert found[0].apart < 1e-4
        assert min(*found[0].torch, *found[0].onnx) > 0
        model.save(tmp_path / "model")
        assert list((tmp_path / "model").rglob("encoder.onnx"))
        again = load(tmp_path / "model")
        assert isinstance(again, Xgrank | Gudn)
        encoder_in_use = again.predictor_.models[0] if isinstance(again, Xgrank) else again.encoder_
        assert encoder_in_use.pooled.graph is not None
        after = again.predict(tiny.test, k=5)
    assert np.mean(after.indices == before.indices) > 0.99
    np.testing.assert_allclose(after.scores, before.scores, atol=1e-3)


def test_a_graph_with_other_vectors_is_refused(encoder: Path, tiny: Parts) -> None:
    with threads.limit(1):
        model = Gudn(gudn_config(encoder)).fit(tiny.train)
        pooled, subwords = model.encoder_.pooled, model.encoder_.subwords
        graph = OnnxGraph.of(pooled.encoder, pooled.layers, pooled.pooling)
        for parameter in pooled.encoder.parameters():
            parameter.data += 0.3
        with pytest.raises(LongtailError, match="other vectors than torch"):
            compare(pooled, graph, subwords(["kobe zite", "zite"]))
