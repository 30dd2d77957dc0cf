"""Margins to probabilities: GRank only orders the labels of a document, validation data say how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from longtail.systems.common.fusion import sigmoid

ROUNDS = 50
BINS = 1000
"""Groups of alike margins that isotonic regression looks at."""


@dataclass(frozen=True, slots=True)
class Calibrator:
    """A rising curve through knots; between and beyond them, it keeps on rising a little.

    Shapes:
        margins, probabilities float32 [knots]: none for Platt's curve, whose slope and start are ``line``
    """

    line: np.ndarray
    margins: np.ndarray
    probabilities: np.ndarray

    @classmethod
    def untaught(cls) -> Calibrator:
        """The logistic curve as it is."""
        return cls(np.array([1.0, 0.0], np.float32), np.empty(0, np.float32), np.empty(0, np.float32))

    @classmethod
    def taught(
        cls, margins: np.ndarray, right: np.ndarray, kind: Literal["none", "platt", "isotonic"]
    ) -> Calibrator:
        """From margins of candidates and whether they are right [entries]."""
        if kind == "none" or not right.any() or right.all():
            return cls.untaught()
        if kind == "platt":
            return cls(_platt(margins, right), np.empty(0, np.float32), np.empty(0, np.float32))
        return cls(np.array([1.0, 0.0], np.float32), *_isotonic(margins, right))

    def __call__(self, margins: np.ndarray) -> np.ndarray:
        """Probabilities float32 [entries]; of two margins the higher one never has the lower probability."""
        if not len(self.margins):
            return sigmoid(self.line[0] * margins + self.line[1])
        steps = np.interp(margins, self.margins, self.probabilities)
        # Flat pieces would make ties of what has an order.
        return np.asarray(0.9999 * steps + 0.0001 * sigmoid(margins), np.float32)


def _platt(margins: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Slope and start of logistic regression, by Newton's method on margins of unit spread."""
    x, y = margins.astype(np.float64), right.astype(np.float64)
    centre, spread = x.mean(), x.std() + 1e-6
    x = (x - centre) / spread
    slope, start = 0.0, float(np.log(y.mean() / (1 - y.mean())))
    for _ in range(ROUNDS):
        p = 1 / (1 + np.exp(-np.clip(slope * x + start, -30, 30)))
        w = p * (1 - p) + 1e-9
        gradient = np.array([((p - y) * x).mean() + 1e-6 * slope, (p - y).mean()])
        hessian = np.array([[(w * x * x).mean() + 1e-6, (w * x).mean()], [(w * x).mean(), w.mean()]])
        step = np.linalg.solve(hessian, gradient)
        # A full step may overshoot where classes are nearly separate.
        step *= min(1.0, 2.0 / (np.abs(step).max() + 1e-12))
        slope, start = slope - step[0], start - step[1]
        if np.abs(step).max() < 1e-8:
            break
    slope = max(slope, 1e-3)
    return np.array([slope / spread, start - slope * centre / spread], np.float32)


def _isotonic(margins: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pool adjacent violators over groups of alike margins."""
    order = np.argsort(margins, kind="stable")
    x, y = margins[order].astype(np.float64), right[order].astype(np.float64)
    pools: list[tuple[float, float, float]] = []
    for xs, ys in zip(np.array_split(x, BINS), np.array_split(y, BINS), strict=True):
        if not len(xs):
            continue
        mean, share, size = xs.mean(), ys.mean(), float(len(xs))
        while pools and pools[-1][1] >= share:
            m, s, n = pools.pop()
            mean, share, size = (
                (m * n + mean * size) / (n + size),
                (s * n + share * size) / (n + size),
                n + size,
            )
        pools.append((mean, share, size))
    return (
        np.array([pool[0] for pool in pools], np.float32),
        np.array([pool[1] for pool in pools], np.float32),
    )
