"""How many labels a document gets: thresholds, precision, expected F1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from longtail.errors import UnreachablePrecisionError, UnsupportedError, UsageError
from longtail.metrics.topk import hits
from longtail.systems.base import System
from longtail.systems.label_choice import LabelChoice
from tests.systems.calibrated import calibrated, documents


@pytest.fixture(scope="module")
def system() -> System:
    return calibrated()


def test_one_way_at_a_time(system: System) -> None:
    with pytest.raises(UsageError, match="threshold and precision exclude each other"):
        system.predict(["0"], threshold=0.5, precision=0.9)
    with pytest.raises(UsageError, match="precision and max_f1 exclude each other"):
        system.predict(["0"], precision=0.5, max_f1=True)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"precision": 0}, "above 0 and at most 1, not 0"),
        ({"precision": 90}, "not 90: write 0.9 for 90 %"),
        ({"precision": "high"}, "precision must be a number, not 'high'"),
        ({"precision": float("nan")}, "precision must be a number, not nan"),
        ({"precision": True}, "precision must be a number, not True"),
        ({"threshold": "low"}, "threshold must be a number"),
        ({"max_f1": "yes"}, "max_f1 must be True or False, not 'yes'"),
        (
            {"precision": 0.9, "precision_by": "label"},
            "precision_by must be 'all' or 'frequency', not 'label'",
        ),
    ],
)
def test_wrong_arguments(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        LabelChoice(**wrong)


def test_a_model_without_calibration_has_thresholds_alone() -> None:
    system = calibrated(calibrate="none")
    assert not system.calibrated_
    assert system.predict(["0 1"], threshold=0.6).labels == [["l0"]]
    for choice in ({"precision": 0.9}, {"max_f1": True}):
        with pytest.raises(UnsupportedError, match="train it with validation documents"):
            system.predict(["0 1"], **choice)


def test_precision_is_kept(system: System) -> None:
    data = documents(seed=5)
    for wanted in (0.5, 0.7):
        best = system.predict(data, k=5, precision=wanted)
        right = hits(best.indices, data.Y)
        assert right.sum() / (best.indices >= 0).sum() > wanted - 0.05
        assert (best.indices >= 0).sum() < 5 * len(data)
    by_bin = system.predict(data, k=5, precision=0.5, precision_by="frequency")
    assert ((by_bin.indices >= 0).sum(axis=1) <= 5).all()


def test_a_precision_that_cannot_be_had_names_the_best(system: System) -> None:
    with pytest.raises(UnreachablePrecisionError, match="the highest that can be had is") as raised:
        system.predict(["0 1"], precision=0.9999)
    assert system.predict(["0 1"], precision=raised.value.best).k == 5


def test_max_f1_has_k_as_its_limit(system: System) -> None:
    data = documents(seed=6)
    wide = system.predict(data, k=30, max_f1=True)
    sizes = (wide.indices >= 0).sum(axis=1)
    assert sizes.min() >= 1
    assert sizes.max() > 1
    narrow = system.predict(data, k=1, max_f1=True)
    assert narrow.k == 1
    np.testing.assert_array_equal(narrow.indices[:, 0], wide.indices[:, 0])
    two = system.predict(data, k=2, max_f1=True)
    assert ((two.indices >= 0).sum(axis=1) == np.minimum(sizes, 2)).all()


def test_chosen_labels_are_the_first_of_the_ranking(system: System) -> None:
    data = documents(seed=7)
    every = system.predict(data, k=5)
    for choice in ({"precision": 0.6}, {"max_f1": True}, {"threshold": 0.4}):
        best = system.predict(data, k=5, **choice)
        kept = best.indices >= 0
        np.testing.assert_array_equal(best.indices[kept], every.indices[kept])
        np.testing.assert_array_equal(best.scores[kept], every.scores[kept])
        assert (np.diff(kept.astype(int), axis=1) <= 0).all()


def test_the_promise_in_words(system: System) -> None:
    assert LabelChoice(max_f1=True).promise(system) is None
    sentence = LabelChoice(precision=0.6).promise(system)
    assert sentence is not None
    assert sentence.startswith("precision 0.6: labels of a probability of at least 0.")
    each = LabelChoice(precision=0.6, precision_by="frequency").promise(system)
    assert each is not None
    assert "1–5: none is kept" in each


def test_names() -> None:
    assert LabelChoice().name == "all"
    assert LabelChoice(threshold=0.5).name == "threshold 0.5"
    assert LabelChoice(precision=0.9, precision_by="frequency").name == "precision 0.9 in every frequency bin"
    assert LabelChoice(max_f1=True).name == "highest expected F1"
