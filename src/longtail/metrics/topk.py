"""Precision, recall, nDCG and coverage of the first k labels of a ranking.

A ranking is an array [n, K] of label columns, best first, without duplicates and padded with -1. Every metric is a
fraction; fewer than k predictions count as misses, and a document without gold labels counts 0.
The functions ending in ``_each`` give one value a document, from the hits, so that the truth is searched only once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from longtail import threads
from longtail.errors import UsageError
from longtail.kernels import kernel

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FEW_ROWS = 4096
"""So many rows take no longer in this thread than starting another one."""


def hits(labels: np.ndarray, Y: csr_array) -> np.ndarray:
    """Which predicted labels are right.

    Shapes: ``labels`` int [n, K] with -1 padding, ``Y`` sparse [n, labels]; returns bool [n, K].
    """
    if labels.ndim != 2 or len(labels) != Y.shape[0]:
        raise UsageError(f"the ranking has shape {labels.shape}, but the truth has {Y.shape[0]} documents")
    truth = canonical(Y)
    found = np.zeros(labels.shape, dtype=np.bool_)
    labels = np.ascontiguousarray(labels)

    def mark(rows: tuple[int, int]) -> None:
        start, stop = rows
        _mark_hits(labels[start:stop], truth.indptr[start : stop + 1], truth.indices, found[start:stop])

    threads.run_all(mark, threads.blocks(len(labels), smallest=FEW_ROWS))
    return found


def row_sizes(Y: csr_array) -> np.ndarray:
    """The number of gold labels of each document, int64 [n]."""
    return np.diff(canonical(Y).indptr).astype(np.int64)


def precision_each(hit: np.ndarray, k: int) -> np.ndarray:
    """Hits among the first k, divided by k, of each document."""
    return cast("np.ndarray", _first(hit, k).sum(axis=1) / k)


def recall_each(hit: np.ndarray, sizes: np.ndarray, k: int) -> np.ndarray:
    """Hits among the first k, divided by the number of gold labels, of each document."""
    return cast("np.ndarray", _first(hit, k).sum(axis=1) / np.maximum(sizes, 1))


def ndcg_each(hit: np.ndarray, sizes: np.ndarray, k: int) -> np.ndarray:
    """Discounted hits among the first k, divided by those of the best ranking, of each document."""
    first = _first(hit, k)
    return cast("np.ndarray", first @ discounts(k)[: first.shape[1]] / best_discount(sizes, k))


def discounts(k: int) -> np.ndarray:
    """The weights 1 / log2(rank + 1) of ranks 1 to k."""
    return cast("np.ndarray", 1 / np.log2(np.arange(2, k + 2)))


def best_discount(sizes: np.ndarray, k: int) -> np.ndarray:
    """The discounted sum of a ranking that is right as long as there are gold labels; 1 where there are none."""
    reach = np.concatenate([[1.0], np.cumsum(discounts(k))])
    return cast("np.ndarray", reach[np.minimum(sizes, k)])


def precision(labels: np.ndarray, Y: csr_array, k: int) -> float:
    """P@k: the mean of hits / k."""
    return mean(precision_each(hits(labels[:, :k], Y), k))


def recall(labels: np.ndarray, Y: csr_array, k: int) -> float:
    """R@k: the mean of hits / gold labels."""
    return mean(recall_each(hits(labels[:, :k], Y), row_sizes(Y), k))


def ndcg(labels: np.ndarray, Y: csr_array, k: int) -> float:
    """nDCG@k: the mean of the discounted hits over the best possible."""
    return mean(ndcg_each(hits(labels[:, :k], Y), row_sizes(Y), k))


def coverage(labels: np.ndarray, Y: csr_array, k: int) -> float:
    """The part of the labels in the truth that are rightly predicted at least once among the first k."""
    first = labels[:, :k]
    wanted, found = np.zeros(Y.shape[1], np.bool_), np.zeros(Y.shape[1], np.bool_)
    wanted[Y.indices] = True
    found[first[hits(first, Y)]] = True
    return float(found.sum() / wanted.sum()) if wanted.any() else 0.0


def shortlist_recall(
    candidates: np.ndarray, Y: csr_array, at: Sequence[int] = (10, 100, 500)
) -> dict[int, float]:
    """R@k of a shortlist (a ranking of candidates) for each k that it is wide enough for."""
    hit, sizes = hits(candidates, Y), row_sizes(Y)
    return {k: mean(recall_each(hit, sizes, k)) for k in at if k <= candidates.shape[1]}


def mean(values: np.ndarray) -> float:
    """The mean, 0 for no documents."""
    return float(values.mean()) if len(values) else 0.0


def _first(hit: np.ndarray, k: int) -> np.ndarray:
    if k < 1:
        raise UsageError(f"k must be at least 1, not {k}")
    return hit[:, :k]


def canonical(Y: csr_array) -> csr_array:
    """The matrix with sorted rows and no entry twice; a copy only where it is not so already."""
    if not Y.has_canonical_format:
        Y = Y.copy()
        Y.sum_duplicates()
    return Y


@kernel
def _mark_hits(labels: np.ndarray, indptr: np.ndarray, indices: np.ndarray, found: np.ndarray) -> None:
    for row in range(labels.shape[0]):
        start, end = indptr[row], indptr[row + 1]
        if start == end:
            continue
        for rank in range(labels.shape[1]):
            label = labels[row, rank]
            low, high = start, end
            while low < high:
                middle = (low + high) // 2
                if indices[middle] < label:
                    low = middle + 1
                else:
                    high = middle
            found[row, rank] = low < end and indices[low] == label
