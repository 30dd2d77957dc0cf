"""Label clusters: a label tree of two layers by balanced 2-means on label features (Sec. III.D.1)."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail.cluster.label_tree import label_centroids
from longtail.cluster.two_means import balanced_codes

KEPT = 256
"""Entries of a label's centroid that it is clustered by."""


def label_clusters(X: csr_array, Y: csr_array, Z: csr_array, size: int, seed: int) -> np.ndarray:
    """The cluster of each label, int64 [L]: about ``size`` labels each, numbered without a gap.

    Args:
        X: documents x columns.
        Y: documents x labels.
        Z: labels x columns, their texts; each counts as one more document.
    """
    n_labels = Y.shape[1]
    depth = max(0, round(float(np.log2(max(n_labels / size, 1)))))
    depth = min(depth, int(np.log2(n_labels)))
    codes = balanced_codes(label_centroids(X, Y, Z, keep=KEPT), depth, seed)
    return np.unique(codes, return_inverse=True)[1].reshape(-1).astype(np.int64)
