"""Every system is calibrated on documents that it was not trained on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import longtail
from longtail.data.hold_out import ENOUGH_TO_HOLD_OUT
from longtail.run import Run
from longtail.systems import calibrating, create
from tests.planted import parts_of, planted
from tests.systems.calibrated import calibrated, documents
from tests.systems.noting import Noting


def test_scores_are_probabilities() -> None:
    system, own = calibrated(), calibrated(calibrate="none")
    assert system.calibrated_
    assert not own.calibrated_
    data = documents(seed=3)
    best, raw = system.predict(data, k=10), own.predict(data, k=10)
    np.testing.assert_array_equal(best.indices, raw.indices)
    report = system.evaluate(data)
    assert report.calibration is not None
    assert report.calibration["ece"] < 5
    assert report.calibration["before"]["ece"] > 10


def test_one_document_alone_and_any_k_have_the_same_probabilities() -> None:
    system, data = calibrated(), documents(n=20, seed=3)
    best = system.predict(data, k=10)
    np.testing.assert_array_equal(system.predict(data, k=3).scores, best.scores[:, :3])
    np.testing.assert_array_equal(system.predict(data.documents[:1], k=10).scores, best.scores[:1])


def test_members_of_an_ensemble_keep_their_own_scores() -> None:
    data = parts_of(planted(n_documents=600, n_labels=40))
    settings = {"members": "linear,lexical"}
    one = create("ensemble", settings).fit(data.train, valid=data.valid)
    other = create("ensemble", {**settings, "calibrate": "none"}).fit(data.train, valid=data.valid)
    assert one.calibrated_
    assert all(not member.system.calibrated_ for member in one.members_)
    np.testing.assert_array_equal(one.predict(data.test).indices, other.predict(data.test).indices)
    combined = type(one).combine(
        [create("linear").fit(data.train, valid=data.valid), create("lexical").fit(data.train)], data.valid
    )
    assert combined.members_[0].system.calibrated_, "a model that was calibrated alone is a member as it is"
    raw = create("linear", {"calibrate": "none"}).fit(data.train)
    again = type(one).combine([raw, create("lexical").fit(data.train)], data.valid)
    np.testing.assert_array_equal(combined.predict(data.test).scores, again.predict(data.test).scores)


def test_held_out_documents_where_there_is_no_validation_part() -> None:
    data = documents(n=ENOUGH_TO_HOLD_OUT)
    run = Run()
    system = Noting().fit(data, run=run)
    assert run.messages == ["no validation data: 100 training documents are held out"]
    assert system.calibrated_
    assert system.facts_.documents == ENOUGH_TO_HOLD_OUT
    assert system.facts_.fingerprint == data.fingerprint()
    assert system.facts_.validation["held_out"]
    assert len(system.fitted_on[0]) == ENOUGH_TO_HOLD_OUT - 100
    np.testing.assert_array_equal(system.label_counts_, data.label_counts)
    for few in (documents(n=ENOUGH_TO_HOLD_OUT - 1), data):
        setting = "isotonic" if few is not data else "none"
        assert not Noting(calibrate=setting).fit(few).calibrated_


def test_too_few_documents_are_said() -> None:
    run = Run()
    system = Noting().fit(documents(), valid=documents(n=49), run=run)
    assert not system.calibrated_
    assert run.messages == ["scores are not calibrated: that takes at least 50 validation documents"]
    wrong = documents(n=60, seed=9)
    run = Run()
    system = Noting().fit(documents(), valid=replace(wrong, Y=wrong.Y[::-1]), run=run)
    assert not system.calibrated_
    assert run.messages == ["scores are not calibrated: 60 validation documents have too few right labels"]


def test_many_documents_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrating, "MOST_DOCUMENTS", 100)
    system = calibrated()
    assert system.calibration_ is not None
    assert system.calibration_.facts["documents"] == 100


def test_pairs_that_are_not_scored_do_not_calibrate() -> None:
    valid = documents(seed=2)
    filtered = replace(valid, filtered=valid.Y)
    assert not Noting().fit(documents(seed=1), valid=filtered).calibrated_


def test_training_anew_forgets_the_calibration() -> None:
    system = calibrated()
    assert not system.fit(documents(n=10)).calibrated_


@pytest.mark.parametrize("name", ["linear", "ensemble"])
def test_saved_models_are_calibrated(name: str, tmp_path: Path) -> None:
    data = parts_of(planted(n_documents=600, n_labels=40))
    settings = {"members": "linear,knn"} if name == "ensemble" else {}
    model = create(name, settings).fit(data.train, valid=data.valid)
    model.save(tmp_path / "model")
    again = longtail.load(tmp_path / "model")
    assert again.calibrated_
    assert again.facts_ == model.facts_
    one, other = (system.predict(data.test, max_f1=True) for system in (model, again))
    np.testing.assert_array_equal(one.scores, other.scores)
    if name == "ensemble":
        small, same = (system.with_members(["knn"]) for system in (model, again))
        assert small.calibrated_
        assert small.calibration_ is not model.calibration_
        np.testing.assert_array_equal(small.predict(data.test).scores, same.predict(data.test).scores)
