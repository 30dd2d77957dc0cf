"""What labels are, and which of them form a cluster (Sec. 3.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from longtail.cluster.graph_kmeans import capped_codes, random_codes
from longtail.cluster.label_tree import LabelTree, label_centroids, unit_rows
from longtail.graph.label_correlation import label_correlation
from longtail.graph.lowpass import lowpass, sampled_lowpass
from longtail.systems.gnnxml.config import ClustersConfig
from longtail.systems.gnnxml.packing import unit

STRONGEST = 100
"""Words of a label that clusters are found by, where labels are TF-IDF rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """The labels of cluster c are ``order[bounds[c]:bounds[c + 1]]``; labels without documents are in none.

    Shapes:
        bounds int64 [K + 1], order int32 [labels in clusters]
    """

    bounds: np.ndarray
    order: np.ndarray

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def tree(self) -> LabelTree:
        """The clusters side by side as the nodes of one level, for the training of rankers."""
        return LabelTree([self.bounds], self.order.astype(np.int64))

    def of_documents(self, Y: csr_array) -> csr_array:
        """Documents x clusters: ones where a document has a label in the cluster."""
        return self.tree.memberships(Y)[0]

    def of_labels(self, n_labels: int) -> np.ndarray:
        """The cluster of each label, -1 without one, int32 [L]."""
        found = np.full(n_labels, -1, np.int32)
        found[self.order] = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.bounds))
        return found


def label_features(Y: csr_array, documents: np.ndarray | csr_array) -> np.ndarray | csr_array:
    """z_l: the sum of a label's documents, of unit length; nothing for a label without any.

    Shapes:
        Y [n, L], documents [n, d], embeddings or TF-IDF rows -> [L, d]
    """
    if isinstance(documents, np.ndarray):
        return unit(np.asarray(csr_array(Y.T) @ documents, np.float32))
    return label_centroids(documents, Y, keep=STRONGEST)


def cluster_labels(
    Y: csr_array, documents: np.ndarray | csr_array, config: ClustersConfig, seed: int
) -> Clusters:
    """Clusters of the labels that have documents.

    Shapes:
        Y [n, L], documents [n, d]
    """
    present = np.flatnonzero(np.bincount(Y.indices, minlength=Y.shape[1]))
    wanted = config.wanted(len(present))
    if config.method == "random":
        wanted = max(wanted, -(-len(present) // config.largest))
        codes = random_codes(len(present), wanted, seed)
    else:
        inside = csr_array(Y[:, present])
        features = label_features(inside, documents)
        if config.method == "graph":
            features = _filtered(inside, features, config, seed)
        codes = capped_codes(features, wanted, largest=config.largest, seed=seed, batch=config.batch)
    # Within a cluster labels keep their order.
    order = np.argsort(codes, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.bincount(codes))]).astype(np.int64)
    return Clusters(bounds, present[order].astype(np.int32))


def _filtered(
    Y: csr_array, features: np.ndarray | csr_array, config: ClustersConfig, seed: int
) -> np.ndarray | csr_array:
    """Features of labels made alike those of the labels they come with (Eq. 9), of unit length."""
    graph = label_correlation(Y, threshold=config.threshold, weight=config.weight, fewest=config.fewest)
    if not isinstance(features, np.ndarray):
        return unit_rows(lowpass(graph, features, config.order))
    if Y.shape[1] <= config.sample:
        return unit(lowpass(graph, features, config.order))
    return unit(sampled_lowpass(graph, features, config.order, sample=config.sample, seed=seed))
