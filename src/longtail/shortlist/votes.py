"""What near documents say of labels: the sum of the weights of those that have a label, or the first of them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail.errors import UsageError
from longtail.kernels import kernel
from longtail.shortlist.candidates import Candidates, by_blocks


def votes(voters: np.ndarray, weights: np.ndarray, labels_of: csr_array) -> Candidates:
    """The labels of each row's voters, with the sum of the weights of those who have them as score.

    Shapes:
        voters int [n, m], -1: none; weights [n, m]; labels_of [nodes, L], whose stored entries count as ones
    """
    return _by_label(voters, weights, labels_of, False)


def first_votes(voters: np.ndarray, weights: np.ndarray, labels_of: csr_array) -> Candidates:
    """The labels of each row's voters, with the weight of the first one that has them as score."""
    return _by_label(voters, weights, labels_of, True)


def _by_label(voters: np.ndarray, weights: np.ndarray, labels_of: csr_array, first: bool) -> Candidates:
    if voters.shape != weights.shape or voters.max(initial=-1) >= labels_of.shape[0]:
        raise UsageError(
            f"voters {voters.shape} up to {voters.max(initial=-1)} do not fit weights {weights.shape} "
            f"and the labels of {labels_of.shape[0]} nodes"
        )
    weights = np.ascontiguousarray(weights, np.float32)

    def count(a: int, b: int) -> Candidates:
        return Candidates.from_counts(
            *_count(voters[a:b], weights[a:b], labels_of.indptr, labels_of.indices, first)
        )

    return by_blocks(len(voters), count)


@kernel
def _count(
    voters: np.ndarray, weights: np.ndarray, indptr: np.ndarray, labels: np.ndarray, first: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n, m = voters.shape
    most, widest = 0, 0
    for i in range(n):
        entries = 0
        for j in range(m):
            if voters[i, j] >= 0:
                entries += indptr[voters[i, j] + 1] - indptr[voters[i, j]]
        most, widest = most + entries, max(widest, entries)
    counts = np.zeros(n, np.int64)
    ids, sums = np.empty(most, np.int32), np.empty(most, np.float32)
    keys = np.empty(widest, np.int64)
    end = 0
    for i in range(n):
        entries, start = 0, end
        for j in range(m):
            if voters[i, j] >= 0:
                for p in range(indptr[voters[i, j]], indptr[voters[i, j] + 1]):
                    # Label and voter in one number: sorted, votes for a label are together, the nearest first.
                    keys[entries] = (np.int64(labels[p]) << 32) | j
                    entries += 1
        some = keys[:entries]
        some.sort()
        for key in some:
            label, weight = np.int32(key >> 32), weights[i, key & 0xFFFFFFFF]
            if end > start and ids[end - 1] == label:
                if not first:
                    sums[end - 1] += weight
            else:
                ids[end], sums[end] = label, weight
                end += 1
        counts[i] = end - start
    return counts, ids[:end].copy(), sums[:end].copy()
