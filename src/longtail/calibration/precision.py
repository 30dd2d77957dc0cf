"""The lowest threshold that keeps a precision, counted on documents whose labels are known.

It is the lower bound of the precision that must reach the wanted one: that of Clopper and Pearson, at 95 %. Labels
of one document are not independent: the number of predictions is divided by the design effect, the variance of the
precision over documents divided by that of independent predictions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from longtail.calibration.curves import N_BINS
from longtail.storage.schema import ArraySet, array

THRESHOLDS = 200
"""Thresholds that are counted at most, closer together where fewer labels are kept."""
FEWEST_KEPT = 10
"""Predictions that the highest threshold keeps."""
RISK = 0.05
"""How often the precision may be below its lower bound."""


@dataclass(frozen=True, slots=True, eq=False)
class PrecisionCounts(ArraySet):
    """Predictions that each threshold keeps, those that are right, and the design effect.

    The last row counts all labels, the others a frequency bin each.
    """

    thresholds: np.ndarray = array("float32", "thresholds", low=0, high=1)
    kept: np.ndarray = array("int64", N_BINS + 1, "thresholds", low=0)
    right: np.ndarray = array("int64", N_BINS + 1, "thresholds", low=0)
    effect: np.ndarray = array("float32", N_BINS + 1, "thresholds", low=1)

    @classmethod
    def of(cls, probabilities: np.ndarray, bins: np.ndarray, right: np.ndarray) -> PrecisionCounts:
        """Count.

        Shapes: all [n, k]: probabilities, frequency bins of the labels (-1: no label), whether they are right.
        """
        rows, columns = np.nonzero(bins >= 0)
        p, y, b = (values[rows, columns] for values in (probabilities, right, bins))
        falling = np.argsort(-p, kind="stable")
        rows, p, y, b = rows[falling], p[falling], y[falling], b[falling]
        n = max(len(p), 1)
        places = np.unique(np.geomspace(min(FEWEST_KEPT, n), n, THRESHOLDS).astype(np.int64)) - 1
        thresholds = np.unique(p[places])[::-1] if len(p) else p
        # Equal probabilities are kept or dropped together.
        ends = np.searchsorted(-p, -thresholds, side="right")
        shape = (N_BINS + 1, len(thresholds))
        counts = cls(
            thresholds.astype(np.float32),
            np.zeros(shape, np.int64),
            np.zeros(shape, np.int64),
            np.ones(shape, np.float32),
        )
        for number in range(N_BINS + 1):
            own = np.flatnonzero(b == number) if number < N_BINS else np.arange(len(p))
            until = np.searchsorted(own, ends)
            counts.kept[number] = until
            counts.right[number] = np.concatenate([[0], np.cumsum(y[own])])[until]
            for at, end in enumerate(until.tolist()):
                counts.effect[number, at] = _design_effect(rows[own[:end]], y[own[:end]], len(bins))
        return counts

    def lower_bounds(self, row: int = -1) -> np.ndarray:
        """Of the precision at each threshold, float64 [thresholds]; 0 where nothing is kept."""
        from scipy.special import betaincinv

        n, x = self.kept[row] / self.effect[row], self.right[row] / self.effect[row]
        found = np.zeros(n.shape)
        some = x > 0
        found[some] = betaincinv(x[some], (n - x)[some] + 1, RISK)
        return found

    def lowest_threshold(self, precision: float, row: int = -1) -> float | None:
        """The lowest threshold whose lower bound reaches the precision; None where none does."""
        enough = np.flatnonzero(self.lower_bounds(row) >= precision)
        return float(self.thresholds[enough[-1]]) if len(enough) else None

    def at(self, threshold: float) -> tuple[int, float, float]:
        """Predictions that a threshold keeps, over all labels, their precision, and its lower bound."""
        place = int(np.flatnonzero(self.thresholds == np.float32(threshold))[0])
        kept = int(self.kept[-1, place])
        return kept, int(self.right[-1, place]) / max(kept, 1), float(self.lower_bounds()[place])

    def best(self, row: int = -1) -> float:
        """The highest lower bound."""
        return float(self.lower_bounds(row).max(initial=0.0))


def _design_effect(rows: np.ndarray, right: np.ndarray, n_documents: int) -> float:
    """How many times larger the variance of the precision is than that of independent predictions; at least 1."""
    n, n_right = len(rows), int(right.sum())
    if not 0 < n_right < n:
        return 1.0
    share = n_right / n
    residuals = np.bincount(rows, weights=right - share, minlength=n_documents)
    return max(1.0, float((residuals**2).sum() / (n * share * (1 - share))))
