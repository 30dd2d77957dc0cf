"""Sparse matrices of pairs (documents x labels): one form for each, other columns, unions, digests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def canonical(matrix: csr_array) -> csr_array:
    """The same matrix with sorted columns, no pair twice and no stored zeros; the caller's own is left alone."""
    if matrix.has_canonical_format and matrix.data.all():
        return matrix
    matrix = matrix.copy()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def with_columns(matrix: csr_array, columns: np.ndarray, n_columns: int) -> csr_array:
    """The entries of column c in column ``columns[c]`` of ``n_columns``; those at -1 are left out."""
    from scipy.sparse import csr_array

    pairs = matrix.tocoo()
    target = columns[pairs.col]
    keep = target >= 0
    return csr_array((pairs.data[keep], (pairs.row[keep], target[keep])), shape=(matrix.shape[0], n_columns))


def stacked(first: csr_array, second: csr_array) -> csr_array:
    """The rows of the first matrix, then those of the second."""
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack([first, second], format="csr"))


def empty(n_rows: int, n_columns: int) -> csr_array:
    """A matrix without a pair."""
    from scipy.sparse import csr_array

    nothing = np.empty(0, np.float32), np.empty(0, np.int32), np.zeros(n_rows + 1, np.int64)
    return csr_array(nothing, shape=(n_rows, n_columns))


def with_empty_rows(matrix: csr_array, count: int) -> csr_array:
    """The matrix with so many rows behind its own that have no entries."""
    from scipy.sparse import csr_array

    indptr = np.concatenate([matrix.indptr, np.full(count, matrix.indptr[-1], matrix.indptr.dtype)])
    shape = (matrix.shape[0] + count, matrix.shape[1])
    return csr_array((matrix.data, matrix.indices, indptr), shape=shape)


def union(matrices: Iterable[csr_array | None]) -> csr_array | None:
    """1 at every pair that any of the matrices has; None if none of them is there."""
    from scipy.sparse import csr_array

    there = [matrix for matrix in matrices if matrix is not None]
    if not there:
        return None
    joined = _ones(there[0])
    for matrix in there[1:]:
        joined = _ones(csr_array(joined + _ones(matrix)))
    return joined


def digest(into: Any, matrix: csr_array) -> None:
    """Feed a matrix to a hash: equal matrices give the same bytes however they are stored."""
    matrix = canonical(matrix)
    into.update(np.asarray(matrix.shape, dtype="<i8").tobytes())
    into.update(matrix.indptr.astype("<i8").tobytes())
    into.update(matrix.indices.astype("<i8").tobytes())
    into.update(matrix.data.astype("<f4").tobytes())


def _ones(matrix: csr_array) -> csr_array:
    ones = canonical(matrix).astype(np.float32)
    ones.data[:] = 1.0
    return ones
