"""The lowest threshold that keeps a precision, counted on documents whose labels are known.

It is the lower bound of the precision that must reach the wanted one: that of Clopper and Pearson, at 95 %.
Predictions of one document, and predictions of one label, are often right or wrong together, so their number is
divided by the design effect: the variance of the precision with documents and labels as clusters (Cameron, Gelbach
and Miller, 2011) divided by that of independent predictions.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    def of(
        cls, probabilities: np.ndarray, labels: np.ndarray, bins: np.ndarray, right: np.ndarray
    ) -> PrecisionCounts:
        """Count.

        Shapes: all [n, k]: probabilities, labels (-1: none) and their frequency bins, whether they are right.
        """
        rows, columns = np.nonzero(labels >= 0)
        p, y, b, label = (values[rows, columns] for values in (probabilities, right, bins, labels))
        falling = np.argsort(-p, kind="stable")
        p, y, b = p[falling], y[falling], b[falling]
        # Numbered anew, so that counts are no longer than they must be.
        clusters = [np.unique(of[falling], return_inverse=True)[1] for of in (rows, label)]
        n = max(len(p), 1)
        places = np.unique(np.geomspace(min(FEWEST_KEPT, n), n, THRESHOLDS).astype(np.int64)) - 1
        thresholds = np.unique(p[places])[::-1] if len(p) else p
        # Equal probabilities are kept or dropped together.
        ends = np.searchsorted(-p, -thresholds, side="right")
        shape = (N_BINS + 1, len(thresholds))
        kept, rights, effect = (
            np.zeros(shape, np.int64),
            np.zeros(shape, np.int64),
            np.ones(shape, np.float32),
        )
        for number in range(N_BINS + 1):
            own = np.flatnonzero(b == number) if number < N_BINS else np.arange(len(p))
            kept[number] = until = np.searchsorted(own, ends)
            rights[number] = np.concatenate([[0], np.cumsum(y[own])])[until]
            for at, end in enumerate(until.tolist()):
                some = own[:end]
                effect[number, at] = design_effect(y[some], [cluster[some] for cluster in clusters])
        return cls(thresholds.astype(np.float32), kept, rights, effect)

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


def design_effect(right: np.ndarray, clusters: Sequence[np.ndarray]) -> float:
    """How many times larger the variance of the precision is than that of independent predictions; at least 1.

    Args:
        right: whether predictions are right [n].
        clusters: numbers of clusters of predictions, in several ways [n].
    """
    n, n_right = len(right), int(right.sum())
    if not 0 < n_right < n:
        return 1.0
    share = n_right / n
    sums = [float((np.bincount(of, weights=right - share) ** 2).sum()) for of in clusters]
    # A prediction is in a cluster of each way: its own variance was added once too often per further way.
    return max(1.0, sum(sums) / (n * share * (1 - share)) - (len(sums) - 1))
