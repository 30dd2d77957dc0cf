from __future__ import annotations

from pathlib import Path

import pytest

from longtail import threads
from longtail.systems.gudn.system import Gudn
from longtail.training import encoder_export
from longtail.training.encoder_comparison import Comparison, Speed
from tests.cli.conftest import Call
from tests.planted import Parts
from tests.systems.gudn.worlds import config
from tests.tiny_encoders import write_syllables

pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")


@pytest.fixture(scope="module")
def gudn(tmp_path_factory: pytest.TempPathFactory, tiny: Parts) -> Path:
    place = tmp_path_factory.mktemp("gudn")
    with threads.limit(1):
        Gudn(config(write_syllables(place / "encoder"))).fit(tiny.train).save(place / "model")
    return place / "model"


def test_a_model_with_a_graph(call: Call, gudn: Path, tmp_path: Path) -> None:
    answer = call("export", gudn, "-o", tmp_path / "fast", "--anyway", "-j", 1)
    assert answer.code == 0, answer.err
    assert "ONNX Runtime" in answer.out
    assert "ms per text" in answer.out
    assert (tmp_path / "fast" / "encoder.onnx").exists()
    assert call("info", tmp_path / "fast").code == 0
    assert not (gudn / "encoder.onnx").exists()


def test_what_is_not_faster_is_not_written(
    call: Call, gudn: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Comparison(Speed(1.0, 1.0), Speed(1.0, 1.0), 0.0)
    monkeypatch.setattr(encoder_export, "compare", lambda *_: slow)
    answer = call("export", gudn, "-o", tmp_path / "fast", "-j", 1)
    assert answer.code == 1
    assert "not faster on this machine, so nothing was written" in answer.err
    assert not (tmp_path / "fast").exists()


def test_no_encoder_an_output_that_exists_and_the_model_itself(
    call: Call, model: Path, gudn: Path, tmp_path: Path
) -> None:
    answer = call("export", model, "-o", tmp_path / "fast")
    assert answer.code == 2
    assert "'dummy' has no pre-trained encoder" in answer.err
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_text("kept")
    assert call("export", gudn, "-o", tmp_path / "there").code == 2
    assert call("export", gudn, "-o", gudn, "--force").code == 2
    assert (tmp_path / "there" / "file").read_text() == "kept"
