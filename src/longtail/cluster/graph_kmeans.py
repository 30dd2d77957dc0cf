"""Clusters of labels for GNN-XML: mini-batch k-means (Sculley, WWW 2010) on unit rows, and none too large.

Sizes are those that the rows suggest, up to a limit: one giant cluster would make ranking as costly as having no
clusters. What is above the limit is split again by the same means.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail.cluster.k_means import spherical_codes
from longtail.errors import UsageError

ROUNDS = 10
"""Times that the rows are gone through."""
_AT_ONCE = 4096
"""Rows that are compared with all centroids in one go, once these are found."""


def capped_codes(
    rows: np.ndarray | csr_array, k: int, *, largest: int, seed: int = 0, batch: int = 1024
) -> np.ndarray:
    """The cluster of each row, numbered without gaps: about ``k`` clusters, none of more than ``largest`` rows.

    Args:
        rows: of unit length; dense ones by mini-batches, sparse ones by whole rounds (``k_means``).
        largest: the limit of sizes; clusters above it are split, so that there may be more than ``k``.
        batch: rows of a mini-batch.

    Shapes:
        rows [n, d] -> codes int64 [n]
    """
    if k < 1 or largest < 1 or batch < 1:
        raise UsageError(
            f"clusters, their size and batches must be at least 1, not {k}, {largest} and {batch}"
        )
    parts = _parts(rows, np.arange(rows.shape[0]), k, largest, (seed,), batch)
    codes = np.empty(rows.shape[0], np.int64)
    for number, part in enumerate(parts):
        codes[part] = number
    return codes


def random_codes(n: int, k: int, seed: int = 0) -> np.ndarray:
    """Clusters of (nearly) equal size at random: the floor of every comparison."""
    codes = np.arange(n) * min(k, max(n, 1)) // max(n, 1)
    return np.asarray(np.random.default_rng(seed).permutation(codes), np.int64)


def mini_batch_codes(
    rows: np.ndarray, k: int, seed: int | tuple[int, ...] = 0, *, batch: int = 1024, rounds: int = ROUNDS
) -> np.ndarray:
    """Assign each row the number of its cluster; there are at most ``k``, numbered without gaps.

    A centroid is the mean of all rows that were ever nearest to it, in the order of the batches. The first ones are
    random rows; a centroid that nobody is near in a round moves to a random row.

    Shapes:
        rows float32 [n, d] -> codes int64 [n]
    """
    n = len(rows)
    k = min(k, n)
    if k <= 1:
        return np.zeros(n, np.int64)
    rng = np.random.default_rng(seed)
    centroids = rows[rng.choice(n, k, replace=False)].astype(np.float64)
    counts = np.ones(k)
    for _ in range(rounds):
        chosen = np.zeros(k, np.int64)
        order = rng.permutation(n)
        for start in range(0, n, batch):
            some = order[start : start + batch]
            nearest = _nearest(rows[some], centroids)
            new = np.bincount(nearest, minlength=k)
            member = csr_array((np.ones(len(some)), (nearest, np.arange(len(some)))), shape=(k, len(some)))
            counts += new
            centroids += (member @ rows[some] - new[:, None] * centroids) / counts[:, None]
            chosen += new
        lonely = np.flatnonzero(chosen == 0)
        centroids[lonely] = rows[rng.choice(n, len(lonely), replace=False)]
        counts[lonely] = 1
    codes = np.concatenate(
        [_nearest(rows[start : start + _AT_ONCE], centroids) for start in range(0, n, _AT_ONCE)]
    )
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def _nearest(rows: np.ndarray, centroids: np.ndarray) -> np.ndarray:
    """The centroid of smallest angle to each row; equally near ones: the first of them."""
    lengths = np.linalg.norm(centroids, axis=1, keepdims=True)
    directions = (centroids / np.maximum(lengths, 1e-12)).astype(np.float32)
    return np.asarray((rows @ directions.T).argmax(axis=1))


def _parts(
    rows: np.ndarray | csr_array,
    members: np.ndarray,
    wanted: int,
    largest: int,
    seed: tuple[int, ...],
    batch: int,
) -> list[np.ndarray]:
    """The members by cluster, none larger than the limit."""
    inside = rows[members]
    if isinstance(inside, np.ndarray):
        codes = mini_batch_codes(inside, wanted, seed, batch=batch)
    else:
        codes = spherical_codes(inside, wanted, seed)
    order = np.argsort(codes, kind="stable")
    finished: list[np.ndarray] = []
    for number, part in enumerate(np.split(members[order], np.cumsum(np.bincount(codes))[:-1])):
        pieces = -(-len(part) // largest)
        if pieces <= 1:
            finished.append(part)
        elif len(part) == len(members) and wanted > 1:
            # All alike: nothing to go by.
            finished += np.array_split(part, pieces)
        else:
            finished += _parts(rows, part, max(pieces, 2), largest, (*seed, number), batch)
    return finished
