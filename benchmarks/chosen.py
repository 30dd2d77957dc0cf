"""Labels chosen by a threshold, and what scores are worth as probabilities: the same steps for every contestant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from benchmarks.contest_data import ContestData, Part
    from longtail.evaluation.measures import Case

CALIBRATED = 5
"""The calibration error is over so many best labels per document."""


def choose_labels(predictions: Mapping[str, np.ndarray], data: ContestData) -> dict[str, Any]:
    """F1 of the test labels above the threshold with the best micro F1 on validation documents; calibration error.

    Scores outside of 0 to 1 are no probabilities: they have no calibration error.
    """
    from longtail.evaluation.measures import are_probabilities, calibration, of_chosen

    assert data.valid is not None
    valid = _case(predictions["valid_labels"], predictions["valid_scores"], data.valid)
    test = _case(predictions["labels"], predictions["scores"], data.test)
    threshold = best_threshold(valid)
    kept = np.where(test.scores >= threshold, test.labels, -1)
    found, number = of_chosen(kept, test.truth)
    probable = are_probabilities(test.labels, test.scores)
    return {
        "chosen": {**found, "labels_per_document": number, "threshold": threshold},
        "calibration_error": calibration(test, CALIBRATED)["ece"] if probable else None,
    }


def best_threshold(case: Case) -> float:
    """The score from which on labels are taken, for the highest micro F1."""
    there = case.labels >= 0
    scores, right = case.scores[there], case.hit[there]
    if not len(scores):
        return 0.0
    order = np.argsort(-scores, kind="stable")
    scores = scores[order]
    # 2 TP / (chosen + true pairs), after each prediction of the pooled ranking; equal scores are taken together.
    f1 = 2 * np.cumsum(right[order]) / (np.arange(1, len(scores) + 1) + max(int(case.sizes.sum()), 1))
    last = np.append(scores[1:] != scores[:-1], True)
    return float(scores[np.flatnonzero(last)[np.argmax(f1[last])]])


def _case(labels: np.ndarray, scores: np.ndarray, part: Part) -> Case:
    from longtail.evaluation.measures import Case

    return Case.of(labels, scores, part.truth, [part.filtered])
