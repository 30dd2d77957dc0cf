"""What is particular to the dual encoder; what all systems share is in tests/contract."""

from __future__ import annotations

from pathlib import Path

import pytest

import longtail
from longtail.errors import ModelIntegrityError, UnsupportedError
from longtail.storage import read_arrays, write_arrays
from longtail.systems.dual.system import DESCRIPTION, LABELS_FILE, VOTERS_FILE, Dual
from longtail.systems.ensemble.system import Ensemble
from tests.planted import Parts
from tests.systems.damage import change_json, fit_manifest, refused


@pytest.fixture
def folder(trained: Dual, tmp_path: Path) -> Path:
    trained.save(tmp_path / "model")
    return tmp_path / "model"


def test_weights_that_make_no_sense_are_refused(folder: Path) -> None:
    change_json(folder / DESCRIPTION, lambda found: found["weights"].update(slope=-1))
    assert "weights of the score" in refused(folder, ModelIntegrityError)


@pytest.mark.parametrize(("file", "name"), [(LABELS_FILE, "learned"), (VOTERS_FILE, "vectors")])
def test_vectors_of_another_width_are_refused(folder: Path, file: str, name: str) -> None:
    arrays = read_arrays(folder / file)
    write_arrays(folder / file, {**arrays, name: arrays[name][:, :-1].copy()})
    fit_manifest(folder)
    assert name in refused(folder, ModelIntegrityError)


def test_labels_of_voters_stay_below_the_number_of_labels(folder: Path) -> None:
    model = longtail.load(folder)
    assert isinstance(model, Dual)
    assert model.predictor_.voters is not None
    (folder / VOTERS_FILE).unlink()
    fit_manifest(folder)
    assert VOTERS_FILE in refused(folder, ModelIntegrityError)


def test_it_is_a_member_of_an_ensemble(trained: Dual, tiny: Parts) -> None:
    lexical = longtail.create("lexical").fit(tiny.train)
    both = Ensemble.combine([trained, lexical], tiny.valid)
    report = both.evaluate(tiny.test)
    assert report.metrics["P@1"]["value"] >= trained.evaluate(tiny.test).metrics["P@1"]["value"] - 5


def test_its_encoder_cannot_be_exported(trained: Dual) -> None:
    with pytest.raises(UnsupportedError, match="mean"):
        trained.export_encoders()
