"""Sparse rows as plain arrays for kernels: read from a matrix, or filled in and made one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from longtail.errors import UsageError


class Rows(NamedTuple):
    """The arrays of a sparse matrix: rows in column order, each cell once, one type of index for all kernels."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    shape: tuple[int, int]

    @property
    def row_of_each(self) -> np.ndarray:
        """The row of each entry."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))

    def row_shares(self) -> tuple[np.ndarray, np.ndarray]:
        """The entries divided by the sum of their row (0 where that is 0), and the sums, both float64."""
        row_of = self.row_of_each
        sums = np.bincount(row_of, weights=self.data, minlength=self.shape[0]).astype(np.float64)
        total = sums[row_of]
        return np.divide(self.data, total, out=np.zeros_like(total), where=total > 0), sums

    def with_data(self, data: np.ndarray) -> csr_array:
        """A matrix with other values in the same cells."""
        return csr_array((data, self.indices, self.indptr), shape=self.shape)


def sorted_rows(matrix: Any) -> Rows:
    """The rows of any scipy matrix (which stays as it is), values as float32."""
    rows = csr_array(matrix)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return Rows(
        rows.indptr.astype(np.int64, copy=False),
        rows.indices.astype(np.int32, copy=False),
        rows.data.astype(np.float32, copy=False),
        (int(rows.shape[0]), int(rows.shape[1])),
    )


def square_rows(graph: Any) -> Rows:
    """The rows of a graph: a matrix with as many rows as columns."""
    rows = sorted_rows(graph)
    if rows.shape[0] != rows.shape[1]:
        raise UsageError(f"a graph must be square, not {rows.shape}")
    return rows


class Slots:
    """Room for at most ``keep`` edges a node, so that kernels can fill rows independently."""

    def __init__(self, n: int, n_columns: int, keep: int) -> None:
        if keep < 1:
            raise UsageError(f"keep must be at least 1 edge a label, not {keep}")
        self.shape = (n, n_columns)
        self.ids = np.empty((n, min(keep, n_columns)), np.int32)
        self.values = np.empty(self.ids.shape, np.float32)
        self.counts = np.zeros(n, np.int64)

    def to_csr(self) -> csr_array:
        """The matrix of what was filled in; kernels leave each row in the order of the columns."""
        used = np.arange(self.ids.shape[1]) < self.counts[:, None]
        indptr = np.concatenate([[0], np.cumsum(self.counts)])
        return csr_array((self.values[used], self.ids[used], indptr), shape=self.shape)
