"""How much a clustering of labels forgets: the loss of mutual information, as a fraction and in bits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from longtail.errors import UsageError
from longtail.metrics.topk import canonical

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def mutual_information(Y: csr_array) -> float:
    """The mutual information of documents and labels, in nats, each stored assignment being equally likely."""
    truth = canonical(Y)
    return _information(_rows(truth), truth.indices, np.ones(truth.nnz))


def mutual_information_loss(Y: csr_array, cluster_of: np.ndarray) -> float:
    """The part of the mutual information of documents and labels that is lost when labels become clusters.

    (I(documents; labels) - I(documents; clusters)) / I(documents; labels), in [0, 1], lower is better: the
    criterion of Dhillon, Mallela and Kumar (2003) that ECLARE reports in Table 7, as a fraction.

    Args:
        Y: documents x labels.
        cluster_of: the cluster of every label, not negative, int [labels].
    """
    whole, lost = _whole_and_lost(Y, cluster_of)
    return min(lost / whole, 1.0) if whole > 0 else 0.0


def lost_bits(Y: csr_array, cluster_of: np.ndarray) -> float:
    """The same loss in bits an assignment, I(documents; labels) - I(documents; clusters)."""
    return _whole_and_lost(Y, cluster_of)[1] / float(np.log(2))


def _whole_and_lost(Y: csr_array, cluster_of: np.ndarray) -> tuple[float, float]:
    """The information of labels, and what of it clusters lose, in nats."""
    cluster_of = np.asarray(cluster_of, dtype=np.int64)
    if len(cluster_of) != Y.shape[1]:
        raise UsageError(f"there are {len(cluster_of)} cluster numbers for {Y.shape[1]} labels")
    if len(cluster_of) and cluster_of.min() < 0:
        raise UsageError(
            f"label {int(cluster_of.argmin())} has the negative cluster number {cluster_of.min()}"
        )
    truth = canonical(Y)
    n_clusters = int(cluster_of.max(initial=0)) + 1
    pairs, counts = np.unique(_rows(truth) * n_clusters + cluster_of[truth.indices], return_counts=True)
    whole = mutual_information(Y)
    kept = _information(pairs // n_clusters, pairs % n_clusters, counts.astype(np.float64))
    return whole, max(whole - kept, 0.0)


def _rows(Y: csr_array) -> np.ndarray:
    return np.repeat(np.arange(Y.shape[0], dtype=np.int64), np.diff(Y.indptr))


def _information(rows: np.ndarray, columns: np.ndarray, weights: np.ndarray) -> float:
    """Mutual information of a joint distribution given as distinct cells and their weights."""
    total = weights.sum()
    if total == 0:
        return 0.0
    row_sums = np.bincount(rows, weights=weights)
    column_sums = np.bincount(columns, weights=weights)
    return float(weights @ np.log(weights * total / (row_sums[rows] * column_sums[columns])) / total)
