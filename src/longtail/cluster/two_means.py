"""Balanced spherical 2-means, applied again and again: halves of halves of alike rows.

The clustering of Parabel (Prabhu et al., WWW 2018): each split puts the half of the rows that lies nearer to
one centroid on one side and the rest on the other, so that clusters have equal sizes.
"""

from __future__ import annotations

import threading

import numpy as np
from scipy.sparse import csr_array

from longtail import threads
from longtail.kernels import kernel

MAX_ROUNDS = 20
MIN_GAIN = 1e-4


def balanced_codes(rows: csr_array, depth: int, seed: int = 0) -> np.ndarray:
    """Assign each row one of ``2 ** depth`` clusters of (nearly) equal size.

    Rows should have unit length. Alike clusters have numbers with a common binary prefix: ``code >> d`` is the
    clustering d levels up.

    Shapes:
        rows [n, features] -> codes int64 [n]
    """
    n = rows.shape[0]
    order = np.arange(n)
    bounds = np.array([0, n])
    indptr = rows.indptr.astype(np.int64)
    local = threading.local()

    def split(node: int) -> int:
        if not hasattr(local, "sums"):
            local.sums = np.zeros((rows.shape[1], 2), np.float32)
        members = order[bounds[node] : bounds[node + 1]]
        return int(
            _split(indptr, rows.indices, rows.data, members, seed * 7919 + len(bounds) + node, local.sums)
        )

    for _ in range(depth):
        sizes_left = np.array(threads.run_all(split, range(len(bounds) - 1)), dtype=np.int64)
        bounds = np.concatenate([np.stack([bounds[:-1], bounds[:-1] + sizes_left], axis=1).ravel(), [n]])
    codes = np.empty(n, np.int64)
    codes[order] = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    return codes


@kernel
def _split(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    members: np.ndarray,
    seed: int,
    sums: np.ndarray,
) -> int:
    """Order ``members`` in place so that its first half is one cluster; return that half's size.

    ``sums`` [features, 2] is scratch of zeros and is left as zeros.
    """
    n = len(members)
    half = (n + 1) // 2
    if n < 2:
        return half
    np.random.seed(seed)
    first = np.random.randint(n)
    second = (first + 1 + np.random.randint(n - 1)) % n
    side = np.zeros(n, np.uint8)
    similarity = np.empty(n, np.float32)
    order = np.arange(n)
    best = -np.inf
    for turn in range(MAX_ROUNDS):
        # Two centroids: a random row each at first, then the sums of the two halves. The squared length
        # follows each addition: |s + v|^2 = |s|^2 + 2 s v + v^2.
        squares = np.zeros(2)
        for i in range(n):
            if turn == 0 and i != first and i != second:
                continue
            s = np.uint8(i == second) if turn == 0 else side[i]
            for p in range(indptr[members[i]], indptr[members[i] + 1]):
                before, value = sums[indices[p], s], data[p]
                squares[s] += value * (2 * before + value)
                sums[indices[p], s] = before + value
        left = np.float32(1 / np.sqrt(max(squares[0], 1e-12)))
        right = np.float32(1 / np.sqrt(max(squares[1], 1e-12)))
        for i in range(n):
            a, b = np.float32(0), np.float32(0)
            for p in range(indptr[members[i]], indptr[members[i] + 1]):
                a += data[p] * sums[indices[p], 0]
                b += data[p] * sums[indices[p], 1]
            similarity[i] = a * left - b * right
        for i in range(n):
            if turn == 0 and i != first and i != second:
                continue
            for p in range(indptr[members[i]], indptr[members[i] + 1]):
                sums[indices[p], 0] = 0
                sums[indices[p], 1] = 0
        order = np.argsort(-similarity, kind="mergesort")
        gain = 0.0
        for position in range(n):
            i = order[position]
            side[i] = position >= half
            gain += similarity[i] if position < half else -similarity[i]
        if gain / n <= best + MIN_GAIN:
            break
        best = gain / n
    before_split = members.copy()
    for position in range(n):
        members[position] = before_split[order[position]]
    return half
