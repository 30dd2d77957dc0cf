"""The rows of a matrix of highest inner product with vectors: exact, a block of products at a time."""

from __future__ import annotations

import numpy as np
import torch

from longtail.training.runtime import torch_threads

AT_ONCE = 2**24
"""Products that are in memory at a time."""


def nearest_rows(queries: np.ndarray, vectors: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The ``size`` nearest rows of each query, the best first; all rows where there are fewer.

    Shapes:
        queries [n, D], vectors [m, D] -> rows int32 [n, k], products float32 [n, k]
    """
    size, step = min(size, len(vectors)), max(1, AT_ONCE // max(len(vectors), 1))
    rows = np.empty((len(queries), size), np.int32)
    products = np.empty((len(queries), size), np.float32)
    if not size:
        return rows, products
    matrix = torch.from_numpy(vectors)
    with torch.inference_mode(), torch_threads():
        for start in range(0, len(queries), step):
            some = slice(start, start + step)
            best, where = (torch.from_numpy(queries[some]) @ matrix.T).topk(size, dim=1)
            rows[some], products[some] = where.numpy(), best.numpy()
    return rows, products
