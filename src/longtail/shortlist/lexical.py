"""Labels whose text shares words with a document: products of sparse rows by inverted lists.

Every list is read to its end, those of words in half of all labels too: adding to a dense row of sums without
asking anything costs about a nanosecond an entry, and cleverer ways to skip entries took longer.
"""

from __future__ import annotations

import threading

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from longtail.errors import UsageError
from longtail.shortlist.candidates import Candidates, by_blocks, over_blocks
from longtail.shortlist.selection import by_id, offer


class LexicalIndex:
    """The features of labels, by label and by feature.

    Args:
        label_rows: [L, V]; of unit length, if products with documents of unit length are to be cosines.
    """

    def __init__(self, label_rows: csr_array) -> None:
        rows = label_rows.astype(np.float32)
        rows.sum_duplicates()
        self.shape = rows.shape
        self._label_ptr, self._features, self._weights = _parts(rows)
        # Row by row, the transpose holds a feature's labels.
        self._posting_ptr, self._posting_labels, self._posting_weights = _parts(csr_array(rows.T))
        self._scratch = threading.local()

    def top(self, X: csr_array, size: int) -> Candidates:
        """The ``size`` labels of highest product with each row of X [n, V], those above 0 alone."""
        if size < 1:
            raise UsageError(f"the size of a shortlist must be at least 1, not {size}")
        indptr, indices, data = self._checked(X)

        def search(a: int, b: int) -> Candidates:
            if not hasattr(self._scratch, "sums"):
                self._scratch.sums = np.zeros(self.shape[0], np.float32)
            return Candidates.from_counts(
                *_search(
                    indptr[a : b + 1],
                    indices,
                    data,
                    self._posting_ptr,
                    self._posting_labels,
                    self._posting_weights,
                    size,
                    self._scratch.sums,
                )
            )

        return by_blocks(X.shape[0], search)

    def match(self, X: csr_array, candidates: Candidates) -> Candidates:
        """The candidates with the product of their row and their document's as score."""
        indptr, indices, data = self._checked(X)
        if X.shape[0] != len(candidates):
            raise UsageError(f"{X.shape[0]} documents, but candidates of {len(candidates)}")
        out = np.empty(len(candidates.ids), np.float32)

        def fill(a: int, b: int) -> None:
            _match(
                indptr[a : b + 1],
                indices,
                data,
                candidates.indptr[a : b + 1],
                candidates.ids,
                self._label_ptr,
                self._features,
                self._weights,
                out,
            )

        over_blocks(X.shape[0], fill)
        return candidates.with_scores(out)

    def _checked(self, X: csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if X.shape[1] != self.shape[1]:
            raise UsageError(f"the documents have {X.shape[1]} features, the labels {self.shape[1]}")
        return _parts(X if X.has_canonical_format else csr_array(X.tocoo()))


def _parts(matrix: csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arrays of a sparse matrix in one set of types, so that kernels are compiled once."""
    return (
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32, copy=False),
        matrix.data.astype(np.float32, copy=False),
    )


@njit(nogil=True, cache=True)
def _product(
    indices: np.ndarray,
    data: np.ndarray,
    first: int,
    last: int,
    label_indices: np.ndarray,
    label_data: np.ndarray,
    label_first: int,
    label_last: int,
) -> np.float32:
    """The product of a document's row and a label's, which usually is much the shorter one."""
    total = np.float32(0)
    for p in range(label_first, label_last):
        wanted = label_indices[p]
        end = last
        while first < end:
            middle = (first + end) >> 1
            if indices[middle] < wanted:
                first = middle + 1
            else:
                end = middle
        if first == last:
            break
        if indices[first] == wanted:
            total += data[first] * label_data[p]
            first += 1
    return total


@njit(nogil=True, cache=True)
def _match(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    candidate_ptr: np.ndarray,
    ids: np.ndarray,
    label_ptr: np.ndarray,
    features: np.ndarray,
    weights: np.ndarray,
    out: np.ndarray,
) -> None:
    for i in range(len(indptr) - 1):
        for p in range(candidate_ptr[i], candidate_ptr[i + 1]):
            first, last = label_ptr[ids[p]], label_ptr[ids[p] + 1]
            out[p] = _product(indices, data, indptr[i], indptr[i + 1], features, weights, first, last)


@njit(nogil=True, cache=True)
def _search(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    posting_ptr: np.ndarray,
    posting_labels: np.ndarray,
    posting_weights: np.ndarray,
    size: int,
    sums: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``sums`` [L] is scratch of zeros and is left as zeros."""
    n, n_labels = len(indptr) - 1, len(sums)
    size = min(size, n_labels)
    counts = np.zeros(n, np.int64)
    out_ids, out_scores = np.empty(n * size, np.int32), np.empty(n * size, np.float32)
    end = 0
    for i in range(n):
        for p in range(indptr[i], indptr[i + 1]):
            value = data[p]
            for q in range(posting_ptr[indices[p]], posting_ptr[indices[p] + 1]):
                sums[posting_labels[q]] += value * posting_weights[q]
        ids, scores, count = out_ids[end : end + size], out_scores[end : end + size], 0
        bound = np.float32(0)
        for label in range(n_labels):
            if sums[label] > bound:
                count = offer(ids, scores, count, label, sums[label])
                if count == size:
                    bound = scores[0]
        sums[:] = 0
        by_id(ids, scores, count)
        counts[i] = count
        end += count
    return counts, out_ids[:end].copy(), out_scores[:end].copy()
