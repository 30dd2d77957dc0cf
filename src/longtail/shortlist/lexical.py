"""Labels (or documents) that share words with a document: products of sparse rows by inverted lists.

Every list is read to its end, those of words in half of all labels too: adding to a dense row of sums without
asking anything costs about a nanosecond an entry, and cleverer ways to skip entries took longer. Only among very
many rows, lists are read in part (``impact_search``).
"""

from __future__ import annotations

import threading

import numpy as np
from scipy.sparse import csr_array

from longtail.errors import UsageError
from longtail.kernels import kernel
from longtail.shortlist import impact_search
from longtail.shortlist.candidates import Candidates, by_blocks, over_blocks
from longtail.shortlist.impact_search import best_product
from longtail.shortlist.selection import best_in_order

_TILE = 64
"""Neighbouring sums whose highest one is found first."""


class LexicalIndex:
    """The features of labels, by label and by feature. The product of a label is that of its best row.

    Args:
        rows: [R, V]; of unit length, if products with documents of unit length are to be cosines.
        label_ptr: int64 [L + 1], the rows of label l are ``label_ptr[l]`` to ``label_ptr[l + 1]`` (its names, say);
            None: one row per label.
        exact: whether ``top`` reads all lists to their ends; otherwise it may miss some.
    """

    def __init__(self, rows: csr_array, label_ptr: np.ndarray | None = None, *, exact: bool = True) -> None:
        rows = rows.astype(np.float32)
        rows.sum_duplicates()
        self.shape = rows.shape
        self._label_ptr = np.arange(rows.shape[0] + 1) if label_ptr is None else label_ptr
        if self._label_ptr[0] != 0 or self._label_ptr[-1] != rows.shape[0]:
            raise UsageError(f"the labels have {self._label_ptr[-1]} rows, but there are {rows.shape[0]}")
        self._label_of = np.repeat(
            np.arange(len(self._label_ptr) - 1, dtype=np.int32), np.diff(self._label_ptr)
        )
        self._several = np.flatnonzero(np.diff(self._label_ptr) > 1)
        self._row_ptr, self._features, self._weights = _parts(rows)
        # Row by row, the transpose holds the rows that have a feature.
        self._posting_ptr, self._posting_rows, self._posting_weights = _parts(csr_array(rows.T))
        self.exact = exact
        if not exact:
            impact_search.order_by_weight(self._posting_ptr, self._posting_rows, self._posting_weights)
        self.entries = impact_search.ENTRIES * -(-rows.nnz // max(rows.shape[0], 1))
        self._scratch = threading.local()

    def top(self, X: csr_array, size: int) -> Candidates:
        """The ``size`` labels of highest product with each row of X [n, V], those above 0 alone.

        A search that is not exact may miss some; the products of those that it finds are exact all the same.
        """
        if size < 1:
            raise UsageError(f"the size of a shortlist must be at least 1, not {size}")
        indptr, indices, data = self._checked(X)

        def search(a: int, b: int) -> Candidates:
            if not self.exact:
                return self._top_in_part(indptr[a : b + 1], indices, data, size)
            return Candidates(
                *_search(
                    indptr[a : b + 1],
                    indices,
                    data,
                    self._posting_ptr,
                    self._posting_rows,
                    self._posting_weights,
                    self._label_ptr,
                    self._label_of,
                    self._several,
                    size,
                    self._zeros("sums", self.shape[0]),
                )
            )

        return by_blocks(X.shape[0], search)

    def _top_in_part(
        self, indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, size: int
    ) -> Candidates:
        return Candidates(
            *impact_search.search(
                indptr,
                indices,
                data,
                self._posting_ptr,
                self._posting_rows,
                self._posting_weights,
                self._label_ptr,
                self._label_of,
                self._row_ptr,
                self._features,
                self._weights,
                size,
                self.entries,
                self._slots(),
                self._zeros("document", self.shape[1]),
            )
        )

    def _slots(self) -> np.ndarray:
        if not hasattr(self._scratch, "slots"):
            self._scratch.slots = impact_search.slots(self.entries)
        found: np.ndarray = self._scratch.slots
        return found

    def _zeros(self, name: str, size: int) -> np.ndarray:
        """Scratch of this thread, which whoever uses it leaves as zeros."""
        if not hasattr(self._scratch, name):
            setattr(self._scratch, name, np.zeros(size, np.float32))
        found: np.ndarray = getattr(self._scratch, name)
        return found

    def match(self, X: csr_array, candidates: Candidates) -> Candidates:
        """The candidates with the product of their best row and their document's as score; 0 without a row."""
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
                self._row_ptr,
                self._features,
                self._weights,
                self._zeros("document", self.shape[1]),
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


@kernel
def _match(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    candidate_ptr: np.ndarray,
    ids: np.ndarray,
    label_ptr: np.ndarray,
    row_ptr: np.ndarray,
    features: np.ndarray,
    weights: np.ndarray,
    document: np.ndarray,
    out: np.ndarray,
) -> None:
    """``document`` [V] is scratch of zeros and is left as zeros."""
    for i in range(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            document[indices[p]] = data[p]
        for p in range(candidate_ptr[i], candidate_ptr[i + 1]):
            out[p] = best_product(ids[p], label_ptr, row_ptr, features, weights, document)
        for p in range(indptr[i], indptr[i + 1]):
            document[indices[p]] = 0


@kernel
def _search(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    posting_ptr: np.ndarray,
    posting_rows: np.ndarray,
    posting_weights: np.ndarray,
    label_ptr: np.ndarray,
    label_of: np.ndarray,
    several: np.ndarray,
    size: int,
    sums: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``sums`` [R] is scratch of zeros and is left as zeros."""
    n, n_labels = len(indptr) - 1, len(label_ptr) - 1
    size = min(size, n_labels)
    ends = np.zeros(n + 1, np.int64)
    out_ids, out_scores = np.empty(n * size, np.int32), np.empty(n * size, np.float32)
    n_tiles = -(-len(sums) // _TILE)
    highest = np.empty(n_tiles, np.float32)
    ids, scores = np.empty(len(sums) + 1, np.int32), np.empty(len(sums) + 1, np.float32)
    end = 0
    for i in range(n):
        for p in range(indptr[i], indptr[i + 1]):
            value = data[p]
            for q in range(posting_ptr[indices[p]], posting_ptr[indices[p] + 1]):
                sums[posting_rows[q]] += value * posting_weights[q]
        # Of a label with several rows, its first one has the highest sum from here on.
        for label in several:
            first = label_ptr[label]
            for row in range(first + 1, label_ptr[label + 1]):
                sums[first] = max(sums[first], sums[row])
                sums[row] = 0
        _tile_maxima(sums, highest)
        # So many labels have at least this: what is below it is not among the best.
        least = np.partition(highest, n_tiles - size)[n_tiles - size] if size < n_tiles else np.float32(0)
        count = 0
        for tile in range(n_tiles):
            # Nearly all rows end here.
            if highest[tile] < least or highest[tile] <= 0:
                continue
            for row in range(tile * _TILE, min((tile + 1) * _TILE, len(sums))):
                ids[count], scores[count] = label_of[row], sums[row]
                count += sums[row] >= least and sums[row] > 0
        sums[:] = 0
        best = slice(end, end + size)
        count = best_in_order(ids[:count], scores[:count], out_ids[best], out_scores[best])
        end += count
        ends[i + 1] = end
    return ends, out_ids[:end].copy(), out_scores[:end].copy()


@kernel
def _tile_maxima(sums: np.ndarray, highest: np.ndarray) -> None:
    """The highest sum of each tile, 0 at least."""
    # Numbers above 0 are in the order of their bits, and whole numbers are compared many at once.
    bits, out = sums.view(np.int32), highest.view(np.int32)
    for tile in range(len(out)):
        rows, most = bits[tile * _TILE : (tile + 1) * _TILE], np.int32(0)
        for p in range(len(rows)):
            most = max(most, rows[p])
        out[tile] = most
