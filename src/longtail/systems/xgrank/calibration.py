"""Margins to probabilities: GRank only orders the labels of a document, so validation data calibrate its scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from longtail.errors import ModelIntegrityError
from longtail.shortlist.scoring import sigmoid
from longtail.storage.schema import ArraySet, array

ROUNDS = 50
"""Steps of Newton's method at most."""
BINS = 1000
"""Groups of margins of equal size that isotonic regression is fitted on."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibrator(ArraySet):
    """A rising curve from margins to probabilities.

    Platt scaling: sigmoid(slope * margin + intercept), with ``line`` = (slope, intercept) and no knots.
    Isotonic regression: linear interpolation between the knots (``margins``, ``probabilities``).
    """

    line: np.ndarray = array("float32", 2)
    margins: np.ndarray = array("float32", "knots")
    probabilities: np.ndarray = array("float32", "knots", low=0, high=1)

    @classmethod
    def logistic(cls) -> Calibrator:
        """The logistic function."""
        return cls(np.array([1.0, 0.0], np.float32), np.empty(0, np.float32), np.empty(0, np.float32))

    @classmethod
    def fit(
        cls, margins: np.ndarray, positive: np.ndarray, kind: Literal["none", "platt", "isotonic"]
    ) -> Calibrator:
        """From margins of candidates and whether they are positive labels [entries]."""
        if kind == "none" or not positive.any() or positive.all():
            return cls.logistic()
        if kind == "platt":
            return cls(_platt(margins, positive), np.empty(0, np.float32), np.empty(0, np.float32))
        return cls(np.array([1.0, 0.0], np.float32), *_isotonic(margins, positive))

    def __call__(self, margins: np.ndarray) -> np.ndarray:
        """Probabilities float32 [entries]; a higher margin never has a lower probability."""
        if not len(self.margins):
            return sigmoid(self.line[0] * margins + self.line[1])
        steps = np.interp(margins, self.margins, self.probabilities)
        # Flat pieces would make ties of different margins.
        return np.asarray(0.9999 * steps + 0.0001 * sigmoid(margins), np.float32)

    def check_relations(self) -> None:
        """The curve rises."""
        falls = [bool((values[1:] < values[:-1]).any()) for values in (self.margins, self.probabilities)]
        if self.line[0] <= 0 or any(falls):
            raise ModelIntegrityError("the calibration curve must rise")


def _platt(margins: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Slope and intercept of logistic regression, by Newton's method on standardised margins."""
    x, y = margins.astype(np.float64), positive.astype(np.float64)
    centre, spread = x.mean(), x.std() + 1e-6
    x = (x - centre) / spread
    slope, intercept = 0.0, float(np.log(y.mean() / (1 - y.mean())))
    for _ in range(ROUNDS):
        p = 1 / (1 + np.exp(-np.clip(slope * x + intercept, -30, 30)))
        w = p * (1 - p) + 1e-9
        gradient = np.array([((p - y) * x).mean() + 1e-6 * slope, (p - y).mean()])
        hessian = np.array([[(w * x * x).mean() + 1e-6, (w * x).mean()], [(w * x).mean(), w.mean()]])
        step = np.linalg.solve(hessian, gradient)
        # A full step may overshoot where classes are nearly separate.
        step *= min(1.0, 2.0 / (np.abs(step).max() + 1e-12))
        slope, intercept = slope - step[0], intercept - step[1]
        if np.abs(step).max() < 1e-8:
            break
    slope = max(slope, 1e-3)
    return np.array([slope / spread, intercept - slope * centre / spread], np.float32)


def _isotonic(margins: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pool adjacent violators over groups of margins."""
    order = np.argsort(margins, kind="stable")
    x, y = margins[order].astype(np.float64), positive[order].astype(np.float64)
    pools: list[tuple[float, float, float]] = []
    for xs, ys in zip(np.array_split(x, BINS), np.array_split(y, BINS), strict=True):
        if not len(xs):
            continue
        mean, share, size = xs.mean(), ys.mean(), float(len(xs))
        while pools and pools[-1][1] >= share:
            m, s, n = pools.pop()
            total = n + size
            mean, share, size = (m * n + mean * size) / total, (s * n + share * size) / total, total
        pools.append((mean, share, size))
    means, shares, _ = np.array(pools, np.float32).T.copy()
    return means, shares
