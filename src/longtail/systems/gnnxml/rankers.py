"""A linear classifier per label, trained and evaluated within the label's cluster (Eq. 3)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, hstack

from longtail.errors import ModelIntegrityError
from longtail.kernels import kernel
from longtail.run import Run
from longtail.shortlist.candidates import Candidates, by_blocks
from longtail.shortlist.tree_training import train_tree
from longtail.solvers.classifiers import SolverConfig
from longtail.storage import checks
from longtail.storage.schema import ArraySet, array
from longtail.systems.gnnxml.clusters import Clusters
from longtail.systems.gnnxml.config import RankerConfig
from longtail.systems.gnnxml.packing import unit


def ranker_features(
    X: csr_array, readouts: np.ndarray, embeddings: np.ndarray, config: RankerConfig
) -> csr_array:
    """TF-IDF rows with the document's vector behind them as further columns.

    Args:
        readouts: of the network.
        embeddings: the sums of vertices, of unit length.

    Shapes:
        X [n, words], readouts [n, D], embeddings [n, d] -> [n, words + D], [n, words + d] or [n, words]
    """
    if config.vectors == "none":
        return X
    vectors = unit(readouts) if config.vectors == "readout" else embeddings
    n, width = vectors.shape
    # All columns of a vector are kept, so that their place is known.
    columns = np.tile(np.arange(width, dtype=np.int32), n)
    dense = csr_array(
        (np.float32(config.vector_weight) * vectors.ravel(), columns, np.arange(n + 1) * width),
        shape=(n, width),
    )
    return csr_array(hstack([X, dense], format="csr"))


@dataclass(frozen=True, slots=True, eq=False)
class Rankers(ArraySet):
    """Weights in rows, one per pair of a feature and a cluster, sorted by feature, then cluster.

    Row r has the weights of ``row_feature[r]`` in cluster ``row_cluster[r]``: ``row_ptr[r]`` to ``row_ptr[r + 1]``
    in ``columns`` (which of the cluster's labels) and ``values``. ``bias`` has a number per label, in the order of
    the clusters.
    """

    row_feature: np.ndarray = array("int32", "rows", index_below="features", stored="deltas")
    row_cluster: np.ndarray = array("int32", "rows", index_below="clusters", stored="deltas")
    row_ptr: np.ndarray = array("int64", "rows + 1", pointer_into="entries", stored="deltas")
    columns: np.ndarray = array("uint16", "entries", stored="deltas")
    values: np.ndarray = array("float32", "entries", stored="float16")
    bias: np.ndarray = array("float32", "members")

    @classmethod
    def fit(
        cls,
        X: csr_array,
        Y: csr_array,
        clusters: Clusters,
        config: SolverConfig,
        seed: int,
        run: Run,
        negatives: csr_array | None = None,
    ) -> Rankers:
        """Train each label on the documents of its cluster: positives have the label, negatives do not.

        Args:
            negatives: ones [documents, clusters]: further documents of a cluster, without a label in it.
        """
        with run.phase("rankers", total=len(clusters.order)) as phase:
            trained = train_tree(clusters.tree, X, Y, config, seed, phase, also=negatives)
        return cls(
            trained.row_feature,
            trained.row_node,
            trained.row_ptr,
            trained.columns,
            trained.values,
            trained.bias,
        )

    @classmethod
    def load_for(cls, path: Path, clusters: Clusters, *, n_features: int) -> Rankers:
        """Read and check what ``save`` wrote for these clusters."""
        rankers = cls.load(path, features=n_features, clusters=len(clusters), members=len(clusters.order))
        sizes = np.repeat(np.diff(clusters.bounds)[rankers.row_cluster], np.diff(rankers.row_ptr))
        if (rankers.columns >= sizes).any():
            with checks.of_file(path):
                raise ModelIntegrityError("columns must be labels of their cluster")
        return rankers

    def check_relations(self) -> None:
        """Rows are found by their feature, so they are in its order."""
        if (self.row_feature[1:] < self.row_feature[:-1]).any():
            raise ModelIntegrityError("row_feature must never fall")


class RankerSearch:
    """Rankers ready to score.

    Args:
        n_features: columns of the documents.
    """

    def __init__(self, rankers: Rankers, clusters: Clusters, n_features: int) -> None:
        self.rankers, self.clusters = rankers, clusters
        self._first_row = np.searchsorted(rankers.row_feature, np.arange(n_features + 1)).astype(np.int64)

    def __call__(self, X: csr_array, chosen: Candidates) -> Candidates:
        """All labels of each document's chosen clusters with the raw scores of their classifiers.

        Shapes:
            X [n, features], chosen: clusters per document
        """
        w, c = self.rankers, self.clusters
        indptr, indices = X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False)
        data = X.data.astype(np.float32, copy=False)

        def rank(a: int, b: int) -> Candidates:
            return Candidates.from_counts(
                *_rank(
                    indptr[a : b + 1],
                    indices,
                    data,
                    chosen.indptr[a : b + 1],
                    chosen.ids,
                    c.bounds,
                    c.order,
                    self._first_row,
                    w.row_cluster,
                    w.row_ptr,
                    w.columns,
                    w.values,
                    w.bias,
                )
            )

        return by_blocks(X.shape[0], rank)


@kernel
def _rank(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    chosen_ptr: np.ndarray,
    chosen: np.ndarray,
    bounds: np.ndarray,
    order: np.ndarray,
    first_row: np.ndarray,
    row_cluster: np.ndarray,
    row_ptr: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    bias: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n = len(indptr) - 1
    counts = np.zeros(n, np.int64)
    for i in range(n):
        for p in range(chosen_ptr[i], chosen_ptr[i + 1]):
            counts[i] += bounds[chosen[p] + 1] - bounds[chosen[p]]
    ids, scores = np.empty(counts.sum(), np.int32), np.empty(counts.sum(), np.float32)
    # Where the labels of a cluster begin among the scores; -1: it is not chosen.
    start = np.full(len(bounds) - 1, -1, np.int64)
    end = 0
    for i in range(n):
        first = end
        for p in range(chosen_ptr[i], chosen_ptr[i + 1]):
            start[chosen[p]] = end
            for label in range(bounds[chosen[p]], bounds[chosen[p] + 1]):
                ids[end], scores[end] = order[label], bias[label]
                end += 1
        for p in range(indptr[i], indptr[i + 1]):
            for row in range(first_row[indices[p]], first_row[indices[p] + 1]):
                at = start[row_cluster[row]]
                if at >= 0:
                    for q in range(row_ptr[row], row_ptr[row + 1]):
                        scores[at + columns[q]] += data[p] * values[q]
        for p in range(chosen_ptr[i], chosen_ptr[i + 1]):
            start[chosen[p]] = -1
        by_id = np.argsort(ids[first:end])
        ids[first:end] = ids[first:end][by_id]
        scores[first:end] = scores[first:end][by_id]
    return counts, ids, scores
