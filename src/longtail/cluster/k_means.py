"""Spherical k-means: clusters of the sizes that the rows themselves suggest.

The clustering of Bonsai (Khandagale et al., Machine Learning 2020). Unlike halving, it never cuts a dense group
of alike rows in two only to make sizes equal.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail import threads
from longtail.kernels import kernel

ROUNDS = 5
"""Later rounds move few rows, and trees over the outcome are no better."""
_CENTROIDS = 32
"""Centroids a task: their dense columns take little memory, and a feature's are few cache lines."""


def spherical_codes(
    rows: csr_array, k: int, seed: int | tuple[int, ...] = 0, *, rounds: int = ROUNDS
) -> np.ndarray:
    """Assign each row the number of its cluster; there are at most ``k``, numbered without gaps.

    Rows should have unit length. The first centroids are random rows; equally near ones: the first of them.

    Shapes:
        rows [n, features] -> codes int64 [n]
    """
    n = rows.shape[0]
    k = min(k, n)
    if k <= 1:
        return np.zeros(n, np.int64)
    used = np.zeros(rows.shape[1], np.bool_)
    used[rows.indices] = True
    place = np.cumsum(used) - 1
    indptr, indices = rows.indptr.astype(np.int64), place[rows.indices].astype(np.int32)
    data = rows.data.astype(np.float32)
    width = int(used.sum())
    firsts = range(0, k, _CENTROIDS)
    # Nobody belongs to a cluster at first, but for the rows that found one.
    codes = np.full(n, -1, np.int64)
    codes[np.random.default_rng(seed).choice(n, k, replace=False)] = np.arange(k)

    def nearest(first: int) -> tuple[np.ndarray, np.ndarray]:
        return _nearest(indptr, indices, data, codes, first, min(first + _CENTROIDS, k), width)

    for _ in range(rounds):
        found = threads.run_all(nearest, firsts)
        best, similarity = found[0]
        for other, value in found[1:]:
            better = value > similarity
            best, similarity = np.where(better, other, best), np.where(better, value, similarity)
        if (best == codes).all():
            break
        codes = best
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


@kernel
def _nearest(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    codes: np.ndarray,
    first: int,
    last: int,
    width: int,
) -> tuple[np.ndarray, np.ndarray]:
    """For each row the nearest centroid of the clusters ``first`` to ``last``, and its cosine."""
    n, count = len(indptr) - 1, last - first
    centroids = np.zeros((width, count), np.float32)
    for i in range(n):
        if first <= codes[i] < last:
            for p in range(indptr[i], indptr[i + 1]):
                centroids[indices[p], codes[i] - first] += data[p]
    scale = np.zeros(count, np.float32)
    for f in range(width):
        for c in range(count):
            scale[c] += centroids[f, c] * centroids[f, c]
    for c in range(count):
        scale[c] = np.float32(1) / np.sqrt(max(scale[c], np.float32(1e-12)))
    best, similarity = np.empty(n, np.int64), np.empty(n, np.float32)
    products = np.empty(count, np.float32)
    for i in range(n):
        products[:] = 0
        for p in range(indptr[i], indptr[i + 1]):
            row, value = centroids[indices[p]], data[p]
            for c in range(count):
                products[c] += value * row[c]
        nearest, cosine = 0, products[0] * scale[0]
        for c in range(1, count):
            if products[c] * scale[c] > cosine:
                nearest, cosine = c, products[c] * scale[c]
        best[i], similarity[i] = first + nearest, cosine
    return best, similarity
