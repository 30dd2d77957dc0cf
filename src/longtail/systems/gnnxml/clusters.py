"""The label clustering model (Sec. 3.2): label features, filtered along the label graph, then k-means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from longtail.cluster.graph_kmeans import capped_codes, random_codes
from longtail.cluster.label_tree import LabelTree, label_centroids, unit_rows
from longtail.errors import ModelIntegrityError
from longtail.graph.label_correlation import label_correlation
from longtail.graph.lowpass import lowpass, sampled_lowpass
from longtail.storage.schema import ArraySet, array
from longtail.systems.gnnxml.config import ClustersConfig
from longtail.systems.gnnxml.packing import unit

STRONGEST = 100
"""Terms of a label's TF-IDF features that it is clustered by."""


@dataclass(frozen=True, slots=True, eq=False)
class Clusters(ArraySet):
    """The labels of cluster c are ``order[bounds[c]:bounds[c + 1]]``; labels without documents are in none."""

    bounds: np.ndarray = array("int64", "clusters + 1", pointer_into="members")
    order: np.ndarray = array("int32", "members", index_below="labels")

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def tree(self) -> LabelTree:
        """The clusters as the nodes of a tree of one level, for the training of rankers."""
        return LabelTree([self.bounds], self.order.astype(np.int64))

    def of_documents(self, Y: csr_array) -> csr_array:
        """Documents x clusters: ones where a document has a label in the cluster."""
        return self.tree.memberships(Y)[0]

    def cluster_of(self, n_labels: int) -> np.ndarray:
        """The cluster of each label, -1 without one, int32 [L]."""
        found = np.full(n_labels, -1, np.int32)
        found[self.order] = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.bounds))
        return found

    def check_relations(self) -> None:
        """There is a cluster, and no label is in two."""
        if len(self) < 1 or len(np.unique(self.order)) != len(self.order):
            raise ModelIntegrityError("a label must be in one cluster, and there must be clusters")


def label_features(Y: csr_array, documents: np.ndarray | csr_array) -> np.ndarray | csr_array:
    """z_l = v_l / |v_l|, v_l the sum of a label's documents; zeros for a label without documents.

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
    k = config.n_clusters(len(present))
    if config.method == "random":
        k = max(k, -(-len(present) // config.largest))
        cluster_of = random_codes(len(present), k, seed)
    else:
        inside = csr_array(Y[:, present])
        features = label_features(inside, documents)
        if config.method == "graph":
            features = filtered(inside, features, config, seed)
        cluster_of = capped_codes(features, k, largest=config.largest, seed=seed, batch=config.batch)
    # Within a cluster labels keep their order.
    order = np.argsort(cluster_of, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.bincount(cluster_of))]).astype(np.int64)
    return Clusters(bounds, present[order].astype(np.int32))


def filtered(
    Y: csr_array, features: np.ndarray | csr_array, config: ClustersConfig, seed: int
) -> np.ndarray | csr_array:
    """(I - L_s / 2)^k Z (Eq. 9) over the label graph of Eq. 8, rows of unit length.

    Shapes:
        Y [n, L], features [L, d] -> [L, d]
    """
    graph = label_correlation(Y, threshold=config.threshold, weight=config.weight, fewest=config.fewest)
    if not isinstance(features, np.ndarray):
        return unit_rows(lowpass(graph, features, config.order))
    if Y.shape[1] <= config.sample:
        return unit(lowpass(graph, features, config.order))
    return unit(sampled_lowpass(graph, features, config.order, sample=config.sample, seed=seed))
