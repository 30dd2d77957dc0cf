"""Propensity-scored precision and nDCG: a right label weighs the more, the rarer it was in training.

The inverse propensity q is that of Jain, Prabhu and Varma (2016). PSP and PSnDCG are ratios of sums over the
documents, not means of ratios, as in pyxclib and napkinXC; PSnDCG divides each document's propensity-scored DCG
by the plain discounts of min(k, gold labels) ranks before summing. Other definitions of PSnDCG exist.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from longtail import threads
from longtail.errors import UsageError
from longtail.kernels import kernel
from longtail.metrics.topk import FEW_ROWS, best_discount, canonical, discounts, hits, row_sizes

if TYPE_CHECKING:
    from scipy.sparse import csr_array

DEFAULT = (0.55, 1.5)
PRESETS = {"default": DEFAULT, "wikipedia": (0.5, 0.4), "amazon": (0.6, 2.6)}
"""A and B as fitted for these kinds of data."""


def inverse_propensity(
    train_counts: np.ndarray, n_train: int, a: float = DEFAULT[0], b: float = DEFAULT[1]
) -> np.ndarray:
    """q_l = 1 + C (N_l + B)^-A with C = (ln N - 1)(B + 1)^A, float64 [labels].

    Args:
        train_counts: in how many training documents each label occurs (N_l).
        n_train: the number of training documents (N). Below 3 rare labels would weigh less: C is 0 then.
        a: A of the formula.
        b: B of the formula, positive.
    """
    if b <= 0:
        raise UsageError(f"B of the propensity must be positive, not {b}")
    c = max(np.log(max(n_train, 1)) - 1, 0.0) * (b + 1) ** a
    return cast("np.ndarray", 1 + c * (np.asarray(train_counts, dtype=np.float64) + b) ** -a)


def preset(name: str) -> tuple[float, float]:
    """A and B by the name of a kind of data."""
    if name not in PRESETS:
        raise UsageError(f"there is no propensity preset '{name}', use one of {', '.join(PRESETS)}")
    return PRESETS[name]


def gains(labels: np.ndarray, hit: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The weight of each predicted label that is right, 0 for the others, float64 [n, K]."""
    won = np.zeros(labels.shape)
    won[hit] = q[labels[hit]]
    return won


def best_gains(Y: csr_array, q: np.ndarray, k: int) -> np.ndarray:
    """The k largest weights of each document's truth, in falling order, padded with 0, float64 [n, k]."""
    if len(q) != Y.shape[1]:
        raise UsageError(f"there are {len(q)} propensities for {Y.shape[1]} labels")
    best = np.zeros((Y.shape[0], k))
    truth = canonical(Y)

    def keep(rows: tuple[int, int]) -> None:
        start, stop = rows
        _keep_largest(truth.indptr[start : stop + 1], truth.indices, q, best[start:stop])

    threads.run_all(keep, threads.blocks(len(best), smallest=FEW_ROWS))
    return best


def psp_parts(gain: np.ndarray, best: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Numerator and denominator of PSP@k of each document."""
    return gain[:, :k].sum(axis=1), best[:, :k].sum(axis=1)


def psndcg_parts(
    gain: np.ndarray, best: np.ndarray, sizes: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Numerator and denominator of PSnDCG@k of each document."""
    weights, scale = discounts(k), best_discount(sizes, k)
    got, could = gain[:, :k], best[:, :k]
    return got @ weights[: got.shape[1]] / scale, could @ weights[: could.shape[1]] / scale


def psp(labels: np.ndarray, Y: csr_array, q: np.ndarray, k: int) -> float:
    """PSP@k: the weight of the hits over the weight of the best k of the truth, both summed over documents."""
    first = labels[:, :k]
    return ratio(*psp_parts(gains(first, hits(first, Y), q), best_gains(Y, q, k), k))


def psndcg(labels: np.ndarray, Y: csr_array, q: np.ndarray, k: int) -> float:
    """PSnDCG@k: as PSP, with weights discounted by rank."""
    first = labels[:, :k]
    gain = gains(first, hits(first, Y), q)
    return ratio(*psndcg_parts(gain, best_gains(Y, q, k), row_sizes(Y), k))


def ratio(numerators: np.ndarray, denominators: np.ndarray) -> float:
    """The sum of the one over the sum of the other, 0 where there is nothing to win."""
    total = denominators.sum()
    return float(numerators.sum() / total) if total > 0 else 0.0


@kernel
def _keep_largest(indptr: np.ndarray, indices: np.ndarray, q: np.ndarray, best: np.ndarray) -> None:
    k = best.shape[1]
    for row in range(best.shape[0]):
        kept = 0
        for at in range(indptr[row], indptr[row + 1]):
            weight = q[indices[at]]
            if kept == k and weight <= best[row, k - 1]:
                continue
            place = min(kept, k - 1)
            while place > 0 and best[row, place - 1] < weight:
                best[row, place] = best[row, place - 1]
                place -= 1
            best[row, place] = weight
            kept = min(kept + 1, k)
