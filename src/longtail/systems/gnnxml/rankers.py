"""A linear classifier for each label, trained and asked within the label's cluster."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numba import njit
from scipy.sparse import csr_array, hstack

from longtail.errors import ModelIntegrityError
from longtail.run import Run
from longtail.shortlist.candidates import Candidates, by_blocks
from longtail.shortlist.tree_training import train_tree
from longtail.solvers.classifiers import SolverConfig
from longtail.storage import checks, read_arrays
from longtail.systems.gnnxml.labels import Clusters


def joined_features(X: csr_array, embeddings: np.ndarray | None, weight: float) -> csr_array:
    """TF-IDF rows with the embeddings behind them as further columns.

    Shapes:
        X [n, words], embeddings float32 [n, d] -> [n, words + d]
    """
    if embeddings is None:
        return X
    return csr_array(hstack([X, csr_array(embeddings * np.float32(weight))], format="csr"))


@dataclass(frozen=True, slots=True, eq=False)
class Rankers:
    """Weights in rows, one a pair of a feature and a cluster that weighs it, sorted by feature, then cluster.

    Row r is about ``row_feature[r]`` in cluster ``row_cluster[r]``; its weights are at ``row_ptr[r]`` to
    ``row_ptr[r + 1]`` in ``columns`` (which of the cluster's labels) and ``values``. ``bias`` has a number a label,
    in the order of the clusters.
    """

    row_feature: np.ndarray
    row_cluster: np.ndarray
    row_ptr: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    bias: np.ndarray

    @classmethod
    def learn(
        cls, X: csr_array, Y: csr_array, clusters: Clusters, config: SolverConfig, seed: int, run: Run
    ) -> Rankers:
        """A label learns from the documents of its cluster: its own are right, the others wrong."""
        with run.phase("rankers", total=len(clusters.order)) as phase:
            trained = train_tree(clusters.tree, X, Y, config, seed, phase)
        return cls(
            trained.row_feature,
            trained.row_node,
            trained.row_ptr,
            trained.columns,
            trained.values,
            trained.bias,
        )

    def arrays(self) -> dict[str, np.ndarray]:
        """By name, for saving."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def load(cls, path: Path, *, n_features: int, clusters: Clusters) -> Rankers:
        """Read saved weights and make sure that no kernel can be led astray by them."""
        arrays = {
            name: np.require(array, requirements=["C", "W"]) for name, array in read_arrays(path).items()
        }
        if set(arrays) != set(_KINDS):
            raise ModelIntegrityError(f"{path} has not the arrays of rankers")
        rankers = cls(**arrays)
        with checks.of_file(path):
            rankers._check(n_features, clusters)
        return rankers

    def _check(self, n_features: int, clusters: Clusters) -> None:
        for name, kind in _KINDS.items():
            checks.vector(getattr(self, name), kind, name)
        n_rows = len(self.row_feature)
        checks.vector(self.row_cluster, np.int32, "row_cluster", size=n_rows)
        checks.vector(self.columns, np.uint16, "columns", size=len(self.values))
        checks.vector(self.bias, np.float32, "bias", size=len(clusters.order))
        checks.pointers(self.row_ptr, len(self.values), "row_ptr", rows=n_rows)
        checks.within(self.row_feature, 0, n_features, "row_feature")
        checks.within(self.row_cluster, 0, len(clusters), "row_cluster")
        checks.finite(self.values, "values")
        checks.finite(self.bias, "bias")
        if (np.diff(self.row_feature) < 0).any():
            raise ModelIntegrityError("row_feature must never fall")
        labels = np.repeat(np.diff(clusters.bounds)[self.row_cluster], np.diff(self.row_ptr))
        if (self.columns >= labels).any():
            raise ModelIntegrityError("columns must be labels of their cluster")


class RankerSearch:
    """Rankers ready to be asked.

    Args:
        n_features: columns that documents have.
    """

    def __init__(self, rankers: Rankers, clusters: Clusters, n_features: int) -> None:
        self.rankers, self.clusters = rankers, clusters
        self._first_row = np.searchsorted(rankers.row_feature, np.arange(n_features + 1)).astype(np.int64)

    def __call__(self, X: csr_array, chosen: Candidates) -> Candidates:
        """All labels of each document's chosen clusters, with the raw scores of their classifiers."""
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


@njit(nogil=True, cache=True)
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


_KINDS = {
    "row_feature": np.int32,
    "row_cluster": np.int32,
    "row_ptr": np.int64,
    "columns": np.uint16,
    "values": np.float32,
    "bias": np.float32,
}
