"""How the scores of a candidate become one: with weights that validation data teach.

A rare label's ranker is trained on few documents and its text is a better witness than for a frequent one, so
the learnt weights depend on how many training documents a label has. A few bends on top of the weighted sum let one
witness count for more where another is sure, or silent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from longtail.shortlist.candidates import Candidates, over_blocks

BINS = np.array([1, 2, 3, 5, 10, 30, 100, 500])
"""Frequencies at which the next group of labels begins (the first group has no documents)."""

FLOOR = np.float32(1e-6)
"""The least probability whose logarithm is evidence."""


@dataclass(frozen=True, slots=True)
class Fusion:
    """A weight for each kind of evidence, a start and any number of bends, for each group of labels.

    A bend is a second weighted sum, pressed between -1 and 1 and added with a factor of its own. It has kinds + 2
    columns: weights, start, factor.

    Shapes:
        weights [groups, kinds + bends * (kinds + 2)], start [groups], group int8 [labels]
    """

    weights: np.ndarray
    start: np.ndarray
    group: np.ndarray

    @classmethod
    def untaught(cls, train_counts: np.ndarray, kinds: int) -> Fusion:
        """The first kind of evidence alone, for all labels."""
        groups = len(BINS) + 1
        return cls(
            np.tile(np.eye(1, kinds, dtype=np.float32), (groups, 1)),
            np.zeros(groups, np.float32),
            groups_of(train_counts),
        )

    def __call__(self, candidates: Candidates, evidence: np.ndarray) -> Candidates:
        """The candidates with the weighted sum of their evidence [entries, kinds] as score."""
        out = np.empty(len(candidates.ids), np.float32)

        def fill(a: int, b: int) -> None:
            first, last = candidates.indptr[a], candidates.indptr[b]
            _weigh(
                candidates.ids[first:last],
                evidence[first:last],
                self.weights,
                self.start,
                self.group,
                out[first:last],
            )

        over_blocks(len(candidates), fill)
        return candidates.with_scores(out)


def groups_of(train_counts: np.ndarray) -> np.ndarray:
    """The group of each label by its number of training documents."""
    return np.searchsorted(BINS, train_counts, side="right").astype(np.int8)


def columns_of(weights: np.ndarray, kinds: int) -> int:
    """The columns that such weights may have: their own if they are weights and whole bends, else weights alone."""
    columns = weights.shape[-1] if weights.ndim else 0
    return columns if columns >= kinds and (columns - kinds) % (kinds + 2) == 0 else kinds


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)) without overflow."""
    return (0.5 * (1.0 + np.tanh(0.5 * x))).astype(np.float32)


@njit(nogil=True, cache=True)
def _weigh(
    ids: np.ndarray,
    evidence: np.ndarray,
    weights: np.ndarray,
    start: np.ndarray,
    group: np.ndarray,
    out: np.ndarray,
) -> None:
    kinds = evidence.shape[1]
    for p in range(len(ids)):
        g = group[ids[p]]
        total = start[g]
        for e in range(kinds):
            total += weights[g, e] * evidence[p, e]
        for first in range(kinds, weights.shape[1], kinds + 2):
            bend = weights[g, first + kinds]
            for e in range(kinds):
                bend += weights[g, first + e] * evidence[p, e]
            total += weights[g, first + kinds + 1] * bend / (np.float32(1) + abs(bend))
        out[p] = np.float32(1) / (np.float32(1) + np.exp(-total))
