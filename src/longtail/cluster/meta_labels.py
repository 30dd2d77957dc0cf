"""Meta-labels: balanced clusters of labels that a shortlister tells apart (sections 3.4 and 3.6 of ECLARE)."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from scipy.sparse import csr_array

from longtail.cluster.dense_two_means import balanced_dense_codes
from longtail.cluster.label_tree import unit_rows
from longtail.cluster.two_means import balanced_codes
from longtail.errors import UsageError

Matrix = TypeVar("Matrix", csr_array, np.ndarray)


class MetaLabels(NamedTuple):
    """The cluster of each label, int64 [labels], and the number of clusters, none of which is empty."""

    codes: np.ndarray
    n_clusters: int


def meta_labels(
    centroids: csr_array | np.ndarray, *, clusters: int, heads: np.ndarray | None = None, seed: int = 0
) -> MetaLabels:
    """Cluster labels by balanced spherical 2-means, head labels apart from the others.

    The labels that are no head labels make ``clusters`` clusters (fewer where there are fewer labels), numbered
    first; head labels make as many as the power of two that comes nearest to the same size of cluster. Labels
    with a zero centroid are like no other and are spread evenly. Sizes in each group differ by at most 1.

    Args:
        centroids: a row a label, of any length [labels, features].
        clusters: a power of two.
        heads: which labels are head labels, bool [labels]; None: none.
    """
    if clusters < 1 or clusters & (clusters - 1):
        raise UsageError(f"the number of clusters must be a power of two, not {clusters}")
    n_labels = centroids.shape[0]
    marks = np.zeros(n_labels, np.bool_) if heads is None else np.asarray(heads, dtype=np.bool_)
    if marks.shape != (n_labels,):
        raise UsageError(f"heads must be one mark for each of {n_labels} labels, not an array {marks.shape}")
    codes = np.empty(n_labels, np.int64)
    common, head = np.flatnonzero(~marks), np.flatnonzero(marks)
    n_common = min(clusters, _power_of_two_within(len(common)))
    codes[common] = _balanced(centroids, common, n_common, seed)
    if len(common):
        n_head = min(
            nearest_power_of_two(len(head) * n_common / len(common), at_least=1),
            _power_of_two_within(len(head)),
        )
    else:
        n_head = min(clusters, _power_of_two_within(len(head)))
    codes[head] = n_common + _balanced(centroids, head, n_head, seed)
    return MetaLabels(codes, n_common + n_head)


def nearest_power_of_two(x: float, at_least: int = 2) -> int:
    """The power of two nearest to x (the smaller of two that are equally near), but not below ``at_least``."""
    below = 1
    while 2 * below <= x:
        below *= 2
    return max(at_least, below if x - below <= 2 * below - x else 2 * below)


def assignment(codes: np.ndarray, n: int) -> csr_array:
    """M of ECLARE, labels x clusters: 1 / (size of its cluster) for each label, so that columns sum to 1."""
    sizes = np.bincount(codes, minlength=n)
    data = (1 / np.maximum(sizes, 1))[codes].astype(np.float32)
    return csr_array((data, codes, np.arange(len(codes) + 1)), shape=(len(codes), n))


def cluster_graph(G: csr_array, codes: np.ndarray, n: int, keep: int = 10) -> csr_array:
    """M^T G M, the graph that labels induce on clusters, cut to the ``keep`` strongest edges a row.

    A self-loop is always among them, and equal edges go by the smaller cluster.

    Shapes:
        G [L, L], codes [L] -> float32 [n, n]
    """
    if keep < 1:
        raise UsageError(f"keep must be at least 1 edge a cluster, not {keep}")
    M = assignment(codes, n)
    graph = csr_array(M.T @ G @ M)
    graph.sum_duplicates()
    row_of = np.repeat(np.arange(n), np.diff(graph.indptr))
    strength = np.where(graph.indices == row_of, np.inf, graph.data)
    order = np.lexsort((graph.indices, -strength, row_of))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - graph.indptr[row_of[order]]
    wanted = rank < keep
    before = np.concatenate([[0], np.cumsum(wanted)])
    return csr_array(
        (graph.data[wanted].astype(np.float32), graph.indices[wanted], before[graph.indptr]), shape=(n, n)
    )


def smoothed_centroids(G: csr_array, C: Matrix) -> Matrix:
    """G C: each label's centroid with a part of those of the labels it goes with."""
    product: Matrix = G @ C
    return product


def _power_of_two_within(n: int) -> int:
    """The largest power of two that is at most n; 0 for 0."""
    return 1 << (n.bit_length() - 1) if n else 0


def _balanced(
    centroids: csr_array | np.ndarray, labels: np.ndarray, n_clusters: int, seed: int
) -> np.ndarray:
    """The cluster of each of ``labels``: the others by likeness, those with zero centroids to the smallest."""
    if not n_clusters:
        return np.zeros(0, np.int64)
    codes = np.empty(len(labels), np.int64)
    depth = n_clusters.bit_length() - 1
    if isinstance(centroids, np.ndarray):
        # The only copy of the matrix: its rows get unit length in place.
        rows = centroids[labels].astype(np.float32, copy=False)
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        there = lengths > 0
        rows /= np.where(there, lengths, 1)[:, None]
        codes[there] = balanced_dense_codes(rows if there.all() else rows[there], depth, seed)
    else:
        sparse = unit_rows(csr_array(centroids[labels]))
        there = (
            np.bincount(
                np.repeat(np.arange(len(labels)), np.diff(sparse.indptr)),
                weights=sparse.data**2,
                minlength=len(labels),
            )
            > 0
        )
        codes[there] = balanced_codes(sparse[there], depth, seed)
    sizes = np.bincount(codes[there], minlength=n_clusters)
    smallest_first = np.argsort(sizes, kind="stable")
    codes[~there] = smallest_first[np.arange(np.count_nonzero(~there)) % n_clusters]
    return codes
