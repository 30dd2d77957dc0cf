"""From scores to probabilities: a rising curve per frequency bin of labels, in an order that never changes.

    q_i = min over j <= i of f_b(j)(s_j)          p_i = g(q_i)

s_1 >= s_2 >= ... are the scores of a document, b(j) is the frequency bin of the label at rank j. The curve f of a
bin is isotonic regression with ``SHRINKAGE`` examples of the curve of all labels at every knot: a bin with few
examples has the curve of all labels. The minimum keeps the ranking of the document, and g, isotonic regression on
the results for all labels, undoes its bias. A probability depends on the labels above it, never on those below: it
does not depend on the number of labels that are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from longtail.calibration.isotonic import isotonic
from longtail.calibration.platt import platt
from longtail.errors import ModelIntegrityError
from longtail.kernels import kernel
from longtail.metrics.bins import LOWER_EDGES
from longtail.storage.schema import ArraySet, array

Method = Literal["isotonic", "platt"]
"""Platt scaling has one curve of two parameters for all labels."""

N_BINS = len(LOWER_EDGES)
KNOTS = 30
"""Quantiles of the scores of positives, and half as many of all scores, between which examples are grouped."""
SHRINKAGE = 20.0
"""Examples of the curve of all labels that the curve of a bin starts with at every knot."""
TINY = np.finfo(np.float32).tiny
FLOOR = np.float32(1e-6)
"""The least probability: room below it keeps different scores different."""


@dataclass(frozen=True, slots=True, eq=False)
class Curves(ArraySet):
    """Scores at the knots and the probability of each bin there; then the curve of all labels."""

    knots: np.ndarray = array("float32", "knots")
    shares: np.ndarray = array("float32", N_BINS, "knots", low=0, high=1)
    levels: np.ndarray = array("float32", "levels")
    probabilities: np.ndarray = array("float32", "levels", low=0, high=1)

    @classmethod
    def fit(cls, scores: np.ndarray, bins: np.ndarray, right: np.ndarray, method: Method) -> Curves:
        """From the best labels of documents.

        Shapes: all [n, k]: scores (falling in a row), the frequency bin of the label (-1: no label), whether it
            is right.
        """
        there = bins >= 0
        s, b, y = scores[there].astype(np.float64), bins[there], right[there]
        knots, group = _groups(s, y)
        counts = np.bincount(group, minlength=len(knots)).astype(np.float64)
        rights = np.bincount(group, weights=y, minlength=len(knots))
        if method == "platt":
            odds = _log_odds if s.min() >= 0 and s.max() <= 1 else np.asarray
            slope, intercept = platt(odds(s), y)
            whole = 1 / (1 + np.exp(-np.clip(slope * odds(knots) + intercept, -30, 30)))
            shares = np.tile(whole, (N_BINS, 1))
        else:
            whole = isotonic((rights + 0.5) / (counts + 1), counts)
            shares = np.empty((N_BINS, len(knots)))
            for number in range(N_BINS):
                own = b == number
                n = np.bincount(group[own], minlength=len(knots)) + SHRINKAGE
                own_rights = np.bincount(group[own], weights=y[own], minlength=len(knots))
                shares[number] = isotonic((own_rights + SHRINKAGE * whole) / n, n)
        line = np.array([0.0, 1.0], np.float32)
        first = cls(knots.astype(np.float32), shares.astype(np.float32), line, line)
        if method == "platt":
            return first
        q = first._of_bins(scores, bins)[there].astype(np.float64)
        levels, group = _groups(q, y)
        counts = np.bincount(group, minlength=len(levels)).astype(np.float64)
        rights = np.bincount(group, weights=y, minlength=len(levels))
        final = isotonic((rights + 0.5) / (counts + 1), counts)
        return cls(first.knots, first.shares, levels.astype(np.float32), final.astype(np.float32))

    def __call__(self, scores: np.ndarray, bins: np.ndarray) -> np.ndarray:
        """Probabilities float32 [n, k], falling in a row as the scores do; padding is 0.

        Shapes: as those of ``fit``.
        """
        out = np.empty(scores.shape, np.float32)
        q = self._of_bins(scores, bins)
        _falling(q, np.asarray(scores, np.float32), bins, self.levels, self.probabilities, FLOOR, out)
        return out

    def _of_bins(self, scores: np.ndarray, bins: np.ndarray) -> np.ndarray:
        """q of each label."""
        out = np.empty(scores.shape, np.float32)
        _between_knots(np.asarray(scores, np.float32), bins, self.knots, self.shares, out)
        return out

    def check_relations(self) -> None:
        """The curves rise."""
        rising = (self.knots, self.levels, self.probabilities, *self.shares)
        if not len(self.knots) or not len(self.levels) or any((np.diff(line) < 0).any() for line in rising):
            raise ModelIntegrityError("the curves of a calibration must rise")


def _log_odds(scores: np.ndarray) -> np.ndarray:
    inside = np.clip(scores, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(inside / (1 - inside)))


def _groups(scores: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean score of each group of examples (rising), and the group of each example.

    Most examples are negatives of low scores: quantiles of the positives give enough groups among high scores.
    """
    high = np.quantile(scores[right], np.linspace(0, 1, KNOTS + 1)) if right.any() else scores[:0]
    low = np.quantile(scores, np.linspace(0, 1, KNOTS // 2 + 1))
    edges = np.unique(np.concatenate([low, high]))[1:-1]
    group = np.searchsorted(edges, scores, side="right")
    _, group = np.unique(group, return_inverse=True)
    counts = np.bincount(group)
    return np.bincount(group, weights=scores) / counts, group


@kernel
def _at(line: np.ndarray, value: float) -> int:
    """The last place of a rising line that is not above a value; -1 if there is none."""
    first, last = 0, len(line)
    while first < last:
        middle = (first + last) >> 1
        if line[middle] <= value:
            first = middle + 1
        else:
            last = middle
    return first - 1


@kernel
def _between_knots(
    scores: np.ndarray, bins: np.ndarray, knots: np.ndarray, shares: np.ndarray, out: np.ndarray
) -> None:
    """The share of each score in the curve of its bin, never above that of the label before it."""
    one, last = np.float32(1), len(knots) - 1
    for i in range(scores.shape[0]):
        lowest = np.float32(np.inf)
        for rank in range(scores.shape[1]):
            bin_ = bins[i, rank]
            if bin_ < 0:
                out[i, rank] = 0
                continue
            score = scores[i, rank]
            at = min(max(_at(knots, score), 0), max(last - 1, 0))
            following = min(at + 1, last)
            width = max(knots[following] - knots[at], TINY)
            part = min(max((score - knots[at]) / width, np.float32(0)), one)
            lowest = min(lowest, shares[bin_, at] * (one - part) + shares[bin_, following] * part)
            out[i, rank] = lowest


@kernel
def _falling(
    q: np.ndarray,
    scores: np.ndarray,
    bins: np.ndarray,
    levels: np.ndarray,
    probabilities: np.ndarray,
    floor: np.float32,
    out: np.ndarray,
) -> None:
    """The probability of each q; a lower score has a lower one, if only by the last bit."""
    last = len(levels) - 1
    for i in range(q.shape[0]):
        before = np.float32(0)
        for rank in range(q.shape[1]):
            at = _at(levels, q[i, rank])
            if at < 0:
                value = np.float64(probabilities[0])
            elif at >= last:
                value = np.float64(probabilities[last])
            else:
                rise = np.float64(probabilities[at + 1]) - np.float64(probabilities[at])
                width = np.float64(levels[at + 1]) - np.float64(levels[at])
                value = rise / width * (np.float64(q[i, rank]) - np.float64(levels[at]))
                value += np.float64(probabilities[at])
            p = max(np.float32(value), floor)
            if rank:
                highest = before
                if scores[i, rank] < scores[i, rank - 1]:
                    highest = np.nextafter(before, np.float32(0))
                p = min(p, highest)
            before = p
            out[i, rank] = p if bins[i, rank] >= 0 else np.float32(0)
