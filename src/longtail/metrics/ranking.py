"""Rankings from sparse scores: the best k of each row, and rankings with some pairs taken out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from longtail import threads
from longtail.errors import UsageError
from longtail.kernels import kernel
from longtail.metrics.topk import FEW_ROWS, hits

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def top_k_of_csr(scores: csr_array, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k best stored entries of each row, best first; ties go to the lower label index, NaN is left out.

    Shapes: returns labels int32 [n, k] padded with -1 and scores float32 [n, k] padded with 0.
    """
    if k < 1:
        raise UsageError(f"k must be at least 1, not {k}")
    labels = np.full((scores.shape[0], k), -1, dtype=np.int32)
    values = np.zeros((scores.shape[0], k), dtype=np.float32)

    def select(rows: tuple[int, int]) -> None:
        start, stop = rows
        _select(
            scores.indptr[start : stop + 1],
            scores.indices,
            scores.data,
            labels[start:stop],
            values[start:stop],
        )

    threads.run_all(select, threads.blocks(len(labels), smallest=FEW_ROWS))
    return labels, values


def remove_filtered(
    labels: np.ndarray, scores: np.ndarray, filtered: csr_array, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The first k labels of each row that are not among the filtered pairs, in the same order.

    Shapes: ``labels`` and ``scores`` [n, K], with K >= k + the most pairs of one row so that none runs short.
    """
    if k < 1:
        raise UsageError(f"k must be at least 1, not {k}")
    keep = (labels >= 0) & ~hits(labels, filtered)
    kept_labels = np.full((len(labels), k), -1, dtype=np.int32)
    kept_scores = np.zeros((len(labels), k), dtype=np.float32)
    place = np.cumsum(keep, axis=1) - 1
    rows, columns = np.nonzero(keep & (place < k))
    kept_labels[rows, place[rows, columns]] = labels[rows, columns]
    kept_scores[rows, place[rows, columns]] = scores[rows, columns]
    return kept_labels, kept_scores


@kernel
def _worse(score: Any, label: Any, than_score: Any, than_label: Any) -> Any:
    return score < than_score or (score == than_score and label > than_label)


@kernel
def _sink(labels: np.ndarray, values: np.ndarray, size: int) -> None:
    # Restores the heap (the worst kept entry on top) after its top was replaced.
    parent = 0
    while True:
        child = 2 * parent + 1
        if child >= size:
            return
        other = child + 1
        if other < size and _worse(values[other], labels[other], values[child], labels[child]):
            child = other
        if not _worse(values[child], labels[child], values[parent], labels[parent]):
            return
        labels[parent], labels[child] = labels[child], labels[parent]
        values[parent], values[child] = values[child], values[parent]
        parent = child


@kernel
def _rise(labels: np.ndarray, values: np.ndarray, child: int) -> None:
    while child > 0:
        parent = (child - 1) // 2
        if not _worse(values[child], labels[child], values[parent], labels[parent]):
            return
        labels[parent], labels[child] = labels[child], labels[parent]
        values[parent], values[child] = values[child], values[parent]
        child = parent


@kernel
def _select(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, labels: np.ndarray, values: np.ndarray
) -> None:
    k = labels.shape[1]
    for row in range(labels.shape[0]):
        best_labels, best_values = labels[row], values[row]
        size = 0
        for at in range(indptr[row], indptr[row + 1]):
            # Compared as it is stored, so that the order does not depend on the precision of the input.
            label, score = np.int32(indices[at]), np.float32(data[at])
            if np.isnan(score):
                continue
            if size < k:
                best_labels[size], best_values[size] = label, score
                _rise(best_labels, best_values, size)
                size += 1
            elif _worse(best_values[0], best_labels[0], score, label):
                best_labels[0], best_values[0] = label, score
                _sink(best_labels, best_values, size)
        while size > 1:  # the worst goes to the end, again and again: best first remains
            size -= 1
            best_labels[0], best_labels[size] = best_labels[size], best_labels[0]
            best_values[0], best_values[size] = best_values[size], best_values[0]
            _sink(best_labels, best_values, size)
