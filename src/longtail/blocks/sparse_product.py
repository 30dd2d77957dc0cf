"""Sparse rows times a dense table, with a gradient for the table: bags of tokens become vectors.

The rows of a batch touch few rows of a large table. ``Bags`` numbers those anew, so that a table's rows in play
are one small dense matrix, and the gradient is as small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail import threads
from longtail.kernels import kernel


@dataclass(frozen=True, slots=True)
class Bags:
    """Sparse rows [n, rows in play] whose columns are places in ``rows`` (sorted numbers of table rows)."""

    matrices: tuple[csr_array, ...]
    rows: np.ndarray

    @classmethod
    def of(cls, *matrices: csr_array) -> Bags:
        """Several sparse matrices over one table, numbered anew together."""
        width = matrices[0].shape[1]
        used = np.zeros(width, bool)
        for matrix in matrices:
            used[matrix.indices] = True
        rows = np.flatnonzero(used)
        place = np.empty(width, np.int32)
        place[rows] = np.arange(len(rows), dtype=np.int32)
        shrunk = tuple(
            csr_array((m.data, place[m.indices], m.indptr), shape=(m.shape[0], len(rows))) for m in matrices
        )
        return cls(shrunk, rows)


def sparse_product(matrix: csr_array, table: torch.Tensor) -> torch.Tensor:
    """``matrix @ table``; the gradient goes to the table alone.

    Shapes:
        matrix [n, m] sparse, table [m, D] -> [n, D]
    """
    apply: Callable[[torch.Tensor, csr_array], torch.Tensor] = _Product.apply
    if table.device.type != "cpu":
        apply = _product_on_device
    return apply(table, matrix)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: torch.Tensor, matrix: csr_array) -> torch.Tensor:
        ctx.matrix = matrix
        return torch.from_numpy(multiply(matrix, table.detach().numpy()))

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
        turned = csr_array(ctx.matrix.T.tocsr())
        return torch.from_numpy(multiply(turned, gradients[0].contiguous().numpy())), None


def multiply(matrix: csr_array, table: np.ndarray) -> np.ndarray:
    """The product in float32, in parallel over rows.

    Shapes:
        matrix [n, m] sparse, table [m, D] -> [n, D]
    """
    out = np.empty((matrix.shape[0], table.shape[1]), np.float32)

    def work(block: tuple[int, int]) -> None:
        _multiply(matrix.indptr, matrix.indices, matrix.data, table, out, *block)

    threads.run_all(work, threads.blocks(matrix.shape[0], smallest=256))
    return out


@kernel(fastmath=True)
def _multiply(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    table: np.ndarray,
    out: np.ndarray,
    start: int,
    stop: int,
) -> None:
    for row in range(start, stop):
        total = out[row]
        total[:] = 0.0
        for place in range(indptr[row], indptr[row + 1]):
            weight = data[place]
            source = table[indices[place]]
            for d in range(len(total)):
                total[d] += weight * source[d]


@kernel
def add_rows(totals: np.ndarray, indptr: np.ndarray, indices: np.ndarray, rows: np.ndarray) -> None:
    """Add each row to the totals that a sparse matrix of ones names for it, in the order of the rows.

    Shapes:
        totals [m, D]; indptr [n + 1], indices [entries] below m; rows [n, D]
    """
    for i in range(len(rows)):
        source = rows[i]
        for place in range(indptr[i], indptr[i + 1]):
            total = totals[indices[place]]
            for d in range(len(source)):
                total[d] += source[d]


def _product_on_device(table: torch.Tensor, matrix: csr_array) -> torch.Tensor:
    parts = (torch.from_numpy(matrix.indptr), torch.from_numpy(matrix.indices), torch.from_numpy(matrix.data))
    sparse = torch.sparse_csr_tensor(*parts, size=matrix.shape, device=table.device)
    product: torch.Tensor = torch.sparse.mm(sparse, table)
    return product
