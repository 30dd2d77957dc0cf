"""The re-ranker: one score from the features of a candidate (stacking).

    s = b_g + <w_g, x> + sum over trees t of v_t[leaf of x],   probability = sigmoid(s)

x are the features of a candidate, g is the frequency group of its label: the text of a rare label is a better
predictor than its classifier, which was trained on few documents, so weights depend on the frequency. Trees let the
weight of one feature depend on the others. All nodes of a level of a tree compare the same feature with the same
threshold (oblivious trees), so a leaf is found by a few comparisons without a branch. The group is one more feature
of theirs, after the others.

Trees score the ``BEST`` candidates of each document by the linear part; the others stay below them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from longtail.errors import UsageError
from longtail.kernels import SUMS, kernel
from longtail.shortlist.candidates import Candidates, over_blocks
from longtail.storage.schema import ArraySet, array

GROUP_STARTS = np.array([1, 2, 3, 5, 10, 30, 100, 500])
"""Training documents from which on a label is in the next group (the first group has none)."""

N_GROUPS = len(GROUP_STARTS) + 1
BEST = 48
"""Candidates per document that trees score."""
DEPTH = 5
"""Comparisons per tree."""
LEAVES = 2**DEPTH


def frequency_groups(train_counts: np.ndarray) -> np.ndarray:
    """The group of each label by its number of training documents, int8 [L]."""
    return np.searchsorted(GROUP_STARTS, train_counts, side="right").astype(np.int8)


@dataclass(frozen=True, slots=True, eq=False)
class Reranker(ArraySet):
    """Weights w and biases b by group, compared features and thresholds by tree and level, values v by leaf."""

    weights: np.ndarray = array("float32", N_GROUPS, "features")
    bias: np.ndarray = array("float32", N_GROUPS)
    compared: np.ndarray = array("int32", "trees", DEPTH, index_below="features + 1")
    thresholds: np.ndarray = array("float32", "trees", DEPTH)
    values: np.ndarray = array("float32", "trees", LEAVES)

    @classmethod
    def linear(cls, weights: np.ndarray, bias: np.ndarray) -> Self:
        """Without trees.

        Shapes:
            weights [groups, features], bias [groups]
        """
        return cls(
            weights.astype(np.float32),
            bias.astype(np.float32),
            np.zeros((0, DEPTH), np.int32),
            np.zeros((0, DEPTH), np.float32),
            np.zeros((0, LEAVES), np.float32),
        )

    @classmethod
    def mean(cls, weights: np.ndarray) -> Self:
        """A linear combination with the same weights for all labels."""
        return cls.linear(np.tile(weights, (N_GROUPS, 1)), np.zeros(N_GROUPS))

    def __call__(self, candidates: Candidates, features: np.ndarray, group: np.ndarray) -> Candidates:
        """The candidates with their probabilities as scores.

        Shapes:
            features float32 [entries, features], group int8 [L]
        """
        probabilities = self.logits(candidates, features, group)
        _sigmoid(probabilities)
        return candidates.with_scores(probabilities)

    def logits(self, candidates: Candidates, features: np.ndarray, group: np.ndarray) -> np.ndarray:
        """s of every candidate, float32 [entries]."""
        out = np.empty(len(candidates.ids), np.float32)
        x = np.ascontiguousarray(features, np.float32)
        if x.shape != (len(out), self.weights.shape[1]):
            # The kernel does not look.
            raise UsageError(f"features are {x.shape}, but must be {(len(out), self.weights.shape[1])}")

        def fill(a: int, b: int) -> None:
            _score(
                candidates.indptr[a : b + 1],
                candidates.ids,
                x,
                group,
                self.weights,
                self.bias,
                self.compared,
                self.thresholds,
                self.values,
                out,
            )

        over_blocks(len(candidates), fill)
        return out


@kernel
def _sigmoid(logits: np.ndarray) -> None:
    """In their places."""
    for p in range(len(logits)):
        logits[p] = np.float32(1) / (np.float32(1) + np.exp(-logits[p]))


@kernel(fastmath=SUMS)
def _score(
    indptr: np.ndarray,
    ids: np.ndarray,
    x: np.ndarray,
    group: np.ndarray,
    weights: np.ndarray,
    bias: np.ndarray,
    compared: np.ndarray,
    thresholds: np.ndarray,
    values: np.ndarray,
    out: np.ndarray,
) -> None:
    n_features = weights.shape[1]
    widest = 0
    for i in range(len(indptr) - 1):
        widest = max(widest, indptr[i + 1] - indptr[i])
    columns = np.empty((n_features + 1, widest), np.float32)
    chosen, leaf = np.empty(widest, np.int64), np.empty(widest, np.int32)
    added = np.empty(widest, np.float32)
    for i in range(len(indptr) - 1):
        first, last = indptr[i], indptr[i + 1]
        for p in range(first, last):
            g = group[ids[p]]
            total = bias[g]
            for f in range(n_features):
                total += weights[g, f] * x[p, f]
            out[p] = total
        if not len(values) or first == last:
            continue
        lowest = np.float32(-np.inf)
        if last - first > BEST:
            # Candidates as good as the last one that fits are scored as well, whatever their order.
            lowest = np.partition(out[first:last], last - first - BEST)[last - first - BEST]
        n = 0
        for p in range(first, last):
            if out[p] >= lowest:
                chosen[n] = p
                # Feature by feature, so that the comparisons of a level run over neighbouring numbers.
                for f in range(n_features):
                    columns[f, n] = x[p, f]
                columns[n_features, n] = group[ids[p]]
                added[n] = 0
                n += 1
        for t in range(len(values)):
            for j in range(n):
                leaf[j] = 0
            for d in range(DEPTH):
                column, threshold = columns[compared[t, d]], thresholds[t, d]
                for j in range(n):
                    leaf[j] = 2 * leaf[j] + (1 if column[j] > threshold else 0)
            for j in range(n):
                added[j] += values[t, leaf[j]]
        least = np.float32(np.inf)
        for j in range(n):
            least = min(least, added[j])
        for p in range(first, last):
            if out[p] < lowest:
                # At most the linear part of any other candidate, and at most what trees add to it.
                out[p] += least
        for j in range(n):
            out[chosen[j]] += added[j]
