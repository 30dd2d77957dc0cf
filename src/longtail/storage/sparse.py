"""Sparse matrices: CSR rows of a model folder as declared arrays, and matrices of arrays known to be sound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from longtail.storage.schema import ArraySet, array


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows(ArraySet):
    """Rows in CSR form; the caller binds ``columns`` (and ``rows``) when it loads them."""

    indptr: np.ndarray = array("int64", "rows + 1", pointer_into="entries")
    indices: np.ndarray = array("int32", "entries", index_below="columns")
    data: np.ndarray = array("float32", "entries")

    @classmethod
    def of(cls, matrix: csr_array) -> Self:
        """The arrays of a matrix."""
        return cls(
            matrix.indptr.astype(np.int64),
            matrix.indices.astype(np.int32),
            matrix.data.astype(np.float32),
        )

    def matrix(self, n_columns: int) -> csr_array:
        """The matrix [rows, n_columns]."""
        return csr_array((self.data, self.indices, self.indptr), shape=(len(self.indptr) - 1, n_columns))


def has_entries(matrix: csr_array) -> np.ndarray:
    """Whether each row has an entry, bool [rows]."""
    found: np.ndarray = matrix.indptr[1:] > matrix.indptr[:-1]
    return found


_EMPTY: Any = csr_array((1, 1), dtype=np.float32)
_EMPTY.has_sorted_indices = _EMPTY.has_canonical_format = True


def sorted_csr(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: tuple[int, int]
) -> csr_array:
    """A matrix of rows with rising columns, without the checks of scipy, which take longer than a short text."""
    matrix: csr_array = object.__new__(csr_array)
    vars(matrix).update(vars(_EMPTY), _shape=shape, data=data, indices=indices, indptr=indptr)
    return matrix
