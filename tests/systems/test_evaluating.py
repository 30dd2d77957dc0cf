"""Reports of a model: its chosen labels, and the calibration before and after."""

from __future__ import annotations

import pytest

from longtail.errors import UsageError
from longtail.metrics.topk import hits
from tests.systems.calibrated import calibrated, documents


@pytest.mark.parametrize("choice", [{"threshold": 0.4}, {"precision": 0.6}, {"max_f1": True}])
def test_precision_recall_and_f1_are_those_of_predict(choice: dict[str, float]) -> None:
    system, data = calibrated(), documents(seed=3)
    report = system.evaluate(data, k=(1, 5), **choice)
    best = system.predict(data, k=5, **choice)
    n_right, n_chosen = int(hits(best.indices, data.Y).sum()), int((best.indices >= 0).sum())
    assert report.other["precision"] == pytest.approx(100 * n_right / n_chosen)
    assert report.other["recall"] == pytest.approx(100 * n_right / data.Y.nnz)
    assert report.other["micro F1"] == pytest.approx(100 * 2 * n_right / (n_chosen + data.Y.nnz))
    assert report.chosen["labels_per_document"] == pytest.approx(n_chosen / len(data))


def test_max_f1_is_better_than_all_labels() -> None:
    system, data = calibrated(), documents(seed=3)
    best = system.evaluate(data, k=(5,), max_f1=True).other
    every = system.evaluate(data, k=(5,), threshold=0.0).other
    assert best["sample F1"] > every["sample F1"] + 10


def test_ways_to_choose_exclude_each_other() -> None:
    with pytest.raises(UsageError, match="exclude each other"):
        calibrated().evaluate(documents(n=5), threshold=0.5, max_f1=True)


def test_without_calibration_there_is_no_before() -> None:
    report = calibrated(calibrate="none").evaluate(documents(seed=3))
    assert report.calibration is not None
    assert "before" not in report.calibration
