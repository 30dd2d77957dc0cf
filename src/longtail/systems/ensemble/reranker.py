"""The re-ranker: one score from the features of a candidate (stacking).

    s = b_g + <w_g, x> + sum over u of o_u softsign(a_gu + <h_u, x>),   probability = sigmoid(s)

x are the features of a candidate, g is the frequency group of its label: the text of a rare label is a better
predictor than its classifier, which was trained on few documents, so weights depend on the frequency. Hidden units
let the weight of one feature depend on another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from longtail.kernels import SUMS, kernel
from longtail.shortlist.candidates import Candidates, over_blocks
from longtail.storage.schema import ArraySet, array

GROUP_STARTS = np.array([1, 2, 3, 5, 10, 30, 100, 500])
"""Training documents from which on a label is in the next group (the first group has none)."""

N_GROUPS = len(GROUP_STARTS) + 1


def frequency_groups(train_counts: np.ndarray) -> np.ndarray:
    """The group of each label by its number of training documents, int8 [L]."""
    return np.searchsorted(GROUP_STARTS, train_counts, side="right").astype(np.int8)


@dataclass(frozen=True, slots=True, eq=False)
class Reranker(ArraySet):
    """Weights of the re-ranker, as the equation names them: w, b, h, a, o."""

    weights: np.ndarray = array("float32", N_GROUPS, "features")
    bias: np.ndarray = array("float32", N_GROUPS)
    hidden: np.ndarray = array("float32", "features", "units")
    hidden_bias: np.ndarray = array("float32", N_GROUPS, "units")
    output: np.ndarray = array("float32", "units")

    @classmethod
    def mean(cls, weights: np.ndarray) -> Self:
        """A linear combination with the same weights for all labels, without hidden units."""
        n = len(weights)
        return cls(
            np.tile(weights.astype(np.float32), (N_GROUPS, 1)),
            np.zeros(N_GROUPS, np.float32),
            np.zeros((n, 0), np.float32),
            np.zeros((N_GROUPS, 0), np.float32),
            np.zeros(0, np.float32),
        )

    def __call__(self, candidates: Candidates, features: np.ndarray, group: np.ndarray) -> Candidates:
        """The candidates with their probabilities as scores.

        Shapes:
            features float32 [entries, features], group int8 [L]
        """
        out = np.empty(len(candidates.ids), np.float32)
        x = np.ascontiguousarray(features, np.float32)

        def fill(a: int, b: int) -> None:
            some = slice(candidates.indptr[a], candidates.indptr[b])
            _score(
                candidates.ids[some],
                x[some],
                group,
                self.weights,
                self.bias,
                self.hidden,
                self.hidden_bias,
                self.output,
                out[some],
            )

        over_blocks(len(candidates), fill)
        return candidates.with_scores(out)


@kernel(fastmath=SUMS)
def _score(
    ids: np.ndarray,
    x: np.ndarray,
    group: np.ndarray,
    weights: np.ndarray,
    bias: np.ndarray,
    hidden: np.ndarray,
    hidden_bias: np.ndarray,
    output: np.ndarray,
    out: np.ndarray,
) -> None:
    n_features, n_units = hidden.shape
    units = np.empty(n_units, np.float32)
    for p in range(len(ids)):
        g = group[ids[p]]
        total = bias[g]
        for u in range(n_units):
            units[u] = hidden_bias[g, u]
        for f in range(n_features):
            value = x[p, f]
            total += weights[g, f] * value
            for u in range(n_units):
                units[u] += hidden[f, u] * value
        for u in range(n_units):
            total += output[u] * units[u] / (np.float32(1) + abs(units[u]))
        out[p] = np.float32(1) / (np.float32(1) + np.exp(-total))
