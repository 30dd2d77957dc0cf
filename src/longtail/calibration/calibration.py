"""What a model keeps of its calibration: curves, precision by threshold, and how well it went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from longtail.calibration import DEPTH
from longtail.calibration.curves import N_BINS, Curves, Method
from longtail.calibration.precision import PrecisionCounts
from longtail.errors import ModelIntegrityError, UnreachablePrecisionError
from longtail.kernels import kernel
from longtail.metrics.bins import LOWER_EDGES
from longtail.metrics.calibration import are_probabilities, expected_calibration_error, reliability
from longtail.storage import VerifiedFolder, read_json, write_json

FEWEST_DOCUMENTS, FEWEST_RIGHT = 50, 20
"""Documents and right predictions below which there is no calibration."""
_EDGES = np.array(LOWER_EDGES)
SHORT = 5
"""Calibration is also measured on so many best labels."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """From scores to probabilities, and to thresholds.

    Attributes:
        facts: the method, the number of documents, and the calibration before and after.
    """

    curves: Curves
    counts: PrecisionCounts
    facts: Mapping[str, Any]

    @classmethod
    def fit(
        cls,
        labels: np.ndarray,
        scores: np.ndarray,
        right: np.ndarray,
        train_counts: np.ndarray,
        method: Method = "isotonic",
    ) -> Calibration | None:
        """From the best labels of documents that the model was not fitted on; None where there are too few.

        Shapes:
            labels (-1: none), scores, right [n, k], best first; train_counts [L]
        """
        if len(labels) < FEWEST_DOCUMENTS or right.sum() < FEWEST_RIGHT or right[labels >= 0].all():
            return None
        bins = bins_of(labels, train_counts)
        curves = Curves.fit(scores, bins, right, method)
        after = _cross_fitted(scores, bins, right, method)
        facts = {
            "method": method,
            "documents": len(labels),
            "before": _measured(labels, scores, right),
            "after": _measured(labels, after, right),
        }
        counts = PrecisionCounts.of(curves(scores, bins), labels, bins, right)
        return cls(curves, counts, facts)

    def probabilities(self, labels: np.ndarray, scores: np.ndarray, train_counts: np.ndarray) -> np.ndarray:
        """Of the best labels of documents, float32 [n, k], in the order of the scores.

        Shapes: labels (-1: none) and scores [n, k], best first; train_counts [L]
        """
        return self.curves(scores, bins_of(labels, train_counts))

    def thresholds(self, precision: float, by_frequency: bool = False) -> np.ndarray:
        """The lowest thresholds that keep the precision, float64 [bins]; infinity where a bin cannot keep it.

        Args:
            by_frequency: keep it in every frequency bin, not only over all labels.
        """
        rows = range(N_BINS) if by_frequency else [-1]
        found = [self.counts.lowest_threshold(precision, row) for row in rows]
        if all(threshold is None for threshold in found):
            best = max(self.counts.best(row) for row in rows)
            raise UnreachablePrecisionError(precision, best)
        each = np.array([np.inf if threshold is None else threshold for threshold in found])
        return each if by_frequency else np.repeat(each, N_BINS)

    def save(self, folder: Path) -> None:
        """Write it to an empty folder."""
        self.curves.save(folder / "curves.safetensors")
        self.counts.save(folder / "precision.safetensors")
        write_json(folder / "calibration.json", dict(self.facts))

    @classmethod
    def load(cls, folder: VerifiedFolder) -> Calibration:
        """Read what ``save`` wrote."""
        path = folder.path("calibration.json")
        facts = read_json(path)
        if not _is_description(facts):
            raise ModelIntegrityError(f"{path} does not describe a calibration")
        curves = Curves.load(folder.path("curves.safetensors"))
        return cls(curves, PrecisionCounts.load(folder.path("precision.safetensors")), facts)


def bins_of(labels: np.ndarray, train_counts: np.ndarray) -> np.ndarray:
    """The frequency bin of each label, -1 for padding, int64 [n, k]; no array of all labels is made."""
    found = np.empty(labels.shape, np.int64)
    _count_edges(np.ascontiguousarray(labels), train_counts, _EDGES, found)
    return found


@kernel
def _count_edges(labels: np.ndarray, train_counts: np.ndarray, edges: np.ndarray, out: np.ndarray) -> None:
    for i in range(labels.shape[0]):
        for rank in range(labels.shape[1]):
            label, number = labels[i, rank], -1
            if label >= 0:
                for edge in edges:
                    number += train_counts[label] >= edge
            out[i, rank] = number


def _cross_fitted(scores: np.ndarray, bins: np.ndarray, right: np.ndarray, method: Method) -> np.ndarray:
    """Probabilities of each half of the documents by curves that are fitted on the other half."""
    found = np.zeros(scores.shape, np.float32)
    odd = np.arange(len(scores)) % 2 == 1
    for half in (odd, ~odd):
        found[half] = Curves.fit(scores[~half], bins[~half], right[~half], method)(scores[half], bins[half])
    return found


def _measured(labels: np.ndarray, scores: np.ndarray, right: np.ndarray) -> dict[str, Any] | None:
    """Expected calibration errors, and the curve of the best labels; None if scores are no probabilities."""
    if not are_probabilities(labels, scores):
        return None
    short, every = (reliability(labels[:, :k], scores[:, :k], right[:, :k]) for k in (SHORT, DEPTH))
    errors = {str(SHORT): expected_calibration_error(short), str(DEPTH): expected_calibration_error(every)}
    return {"errors": errors, "points": [asdict(point) for point in short]}


def _is_description(facts: Any) -> bool:
    match facts:
        case {"method": str(), "documents": int(), "before": before, "after": dict(after)}:
            return _is_measured(after) and (before is None or _is_measured(before))
    return False


def _is_measured(found: Any) -> bool:
    match found:
        case {"errors": dict(errors), "points": list(points)}:
            names = ("low", "high", "count", "score", "accuracy")
            values = [
                *errors.values(),
                *(point.get(name) if isinstance(point, dict) else None for point in points for name in names),
            ]
            return set(errors) == {str(SHORT), str(DEPTH)} and all(
                isinstance(v, (int, float)) for v in values
            )
    return False
