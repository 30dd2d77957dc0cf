"""A sparse matrix of a model folder: CSR rows as declared arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

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
