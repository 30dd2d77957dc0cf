"""Balanced spherical 2-means for dense rows: as ``two_means``, one pass over the rows a round."""

from __future__ import annotations

import numpy as np

from longtail import threads
from longtail.cluster.two_means import MAX_ROUNDS, MIN_GAIN
from longtail.kernels import kernel

FEW_ROWS = 1024
"""Nodes of the tree are split together, in one task, up to about so many rows."""


def balanced_dense_codes(rows: np.ndarray, depth: int, seed: int = 0) -> np.ndarray:
    """Assign each row one of ``2 ** depth`` clusters of (nearly) equal size.

    Rows should have unit length. Alike clusters have numbers with a common binary prefix.

    Shapes:
        rows float32 [n, D] -> codes int64 [n]
    """
    rows = np.ascontiguousarray(rows, dtype=np.float32)
    n = len(rows)
    order = np.arange(n)
    bounds = np.array([0, n])
    for _ in range(depth):
        halves = np.empty(len(bounds) - 1, np.int64)

        def split(nodes: tuple[int, int], bounds: np.ndarray = bounds, halves: np.ndarray = halves) -> None:
            _split_all(rows, order, bounds, nodes[0], nodes[1], seed, halves)

        at_once = max(1, FEW_ROWS * (len(bounds) - 1) // max(n, 1))
        threads.run_all(split, threads.blocks(len(bounds) - 1, smallest=at_once))
        bounds = np.concatenate([np.stack([bounds[:-1], bounds[:-1] + halves], axis=1).ravel(), [n]])
    codes = np.empty(n, np.int64)
    codes[order] = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    return codes


@kernel
def _split_all(
    rows: np.ndarray,
    order: np.ndarray,
    bounds: np.ndarray,
    start: int,
    stop: int,
    seed: int,
    halves: np.ndarray,
) -> None:
    for node in range(start, stop):
        members = order[bounds[node] : bounds[node + 1]]
        halves[node] = _split(rows, members, seed * 7919 + len(bounds) + node)


@kernel
def _split(rows: np.ndarray, members: np.ndarray, seed: int) -> int:
    """Order ``members`` in place so that its first half is one cluster; return that half's size."""
    n = len(members)
    half = (n + 1) // 2
    if n < 2:
        return half
    np.random.seed(seed)
    first = np.random.randint(n)
    second = (first + 1 + np.random.randint(n - 1)) % n
    sums = np.stack((rows[members[first]], rows[members[second]])).astype(np.float64)
    direction = np.empty(rows.shape[1], np.float32)
    side = np.zeros(n, np.uint8)
    similarity = np.empty(n, np.float32)
    order = np.arange(n)
    best = -np.inf
    for turn in range(MAX_ROUNDS):
        # Nearer to one centroid than to the other is one product with the difference of their directions.
        left, right = _inverse_length(sums[0]), _inverse_length(sums[1])
        for d in range(len(direction)):
            direction[d] = sums[0, d] * left - sums[1, d] * right
        for i in range(n):
            similarity[i] = _dot(rows[members[i]], direction)
        order = np.argsort(-similarity, kind="mergesort")
        gain = 0.0
        if turn == 0:
            sums[:] = 0
        for position in range(n):
            i = order[position]
            gain += similarity[i] if position < half else -similarity[i]
            new_side = np.uint8(position >= half)
            if turn == 0:
                _add(sums[new_side], rows[members[i]], 1.0)
            elif new_side != side[i]:
                # Few rows change sides after the first rounds: only those move between the sums.
                _add(sums[new_side], rows[members[i]], 1.0)
                _add(sums[side[i]], rows[members[i]], -1.0)
            side[i] = new_side
        if gain / n <= best + MIN_GAIN:
            break
        best = gain / n
    before_split = members.copy()
    for position in range(n):
        members[position] = before_split[order[position]]
    return half


@kernel
def _inverse_length(vector: np.ndarray) -> float:
    square = 0.0
    for value in vector:
        square += value * value
    return float(1 / np.sqrt(max(square, 1e-12)))


@kernel
def _add(total: np.ndarray, row: np.ndarray, sign: float) -> None:
    for d in range(len(row)):
        total[d] += sign * row[d]


@kernel(fastmath={"reassoc", "contract"})
def _dot(a: np.ndarray, b: np.ndarray) -> np.float32:
    # The order of the sum is left to the compiler, which makes this as fast as memory.
    total = np.float32(0)
    for i in range(len(a)):
        total += a[i] * b[i]
    return total
