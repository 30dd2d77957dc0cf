"""Do scores mean what they say? Of the labels predicted with 0.7, about 70 % should be right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Reliability:
    """One range of scores: how many predictions, their mean score, and the part of them that is right."""

    low: float
    high: float
    count: int
    score: float
    accuracy: float


def are_probabilities(labels: np.ndarray, scores: np.ndarray) -> bool:
    """Whether every score lies in [0, 1], so that it can be read as a probability."""
    given = scores[labels >= 0]
    return bool(len(given)) and bool(((given >= 0) & (given <= 1)).all())


def reliability(
    labels: np.ndarray, scores: np.ndarray, hit: np.ndarray, n_bins: int = 10
) -> list[Reliability]:
    """The reliability curve of the predictions over ``n_bins`` equal ranges of [0, 1]; empty ranges are left out.

    Shapes: all [n, K]; padding (-1 in ``labels``) does not count.
    """
    there = labels >= 0
    score, right = scores[there].astype(np.float64), hit[there]
    place = np.clip((score * n_bins).astype(np.int64), 0, n_bins - 1)
    counts = np.bincount(place, minlength=n_bins)
    score_sums = np.bincount(place, weights=score, minlength=n_bins)
    right_sums = np.bincount(place, weights=right, minlength=n_bins)
    return [
        Reliability(
            low=b / n_bins,
            high=(b + 1) / n_bins,
            count=int(counts[b]),
            score=float(score_sums[b] / counts[b]),
            accuracy=float(right_sums[b] / counts[b]),
        )
        for b in np.flatnonzero(counts).tolist()
    ]


def expected_calibration_error(curve: list[Reliability]) -> float:
    """The distance between score and accuracy over the points of the curve, weighted by their counts."""
    total = sum(point.count for point in curve)
    return sum(point.count * abs(point.score - point.accuracy) for point in curve) / total if total else 0.0
