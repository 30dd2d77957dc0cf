"""What a model keeps around its labels: neighbours in a graph or in training documents, and those documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from longtail.systems.declarations import Capabilities

NeighbourSource = Literal["documents", "graph"]
"""documents: the share of the label's training documents that have the neighbour too; graph: weights of a graph."""


class LabelFacts:
    """The part of a system that tells of its labels; one that keeps neither graph nor documents knows nothing."""

    capabilities: ClassVar[Capabilities]

    @property
    def predicts_cold_labels(self) -> bool:
        """Whether labels without training documents can be predicted by their texts."""
        return self.capabilities.cold_labels

    def label_neighbours(self, label: int, k: int = 10) -> list[tuple[int, float]]:
        """The labels nearest to the label of this number, with weights, the nearest first."""
        return []

    def neighbour_source(self, label: int) -> NeighbourSource:
        """What the weights of these neighbours are."""
        return "documents"

    def label_documents(self, label: int, k: int = 10) -> list[tuple[str, np.ndarray]]:
        """Training documents that have the label: ids, and the numbers of all their labels."""
        return []


def strongest(row: csr_array, label: int, k: int) -> list[tuple[int, float]]:
    """The columns of highest weight in one row of a graph [1, labels], without the label itself."""
    found = sorted(
        zip(row.indices.tolist(), row.data.tolist(), strict=True), key=lambda one: (-one[1], one[0])
    )
    return [(column, weight) for column, weight in found if column != label and weight > 0][:k]


def cooccurring(Y: csr_array, label: int, k: int) -> list[tuple[int, float]]:
    """The labels that documents with the label have most often, with the share of those documents that has each."""
    rows = _rows(Y, label)
    if not len(rows):
        return []
    counts = np.bincount(Y[rows].indices, minlength=Y.shape[1])
    counts[label] = 0
    best = np.argsort(-counts, kind="stable")[:k]
    return [(column, float(counts[column] / len(rows))) for column in best.tolist() if counts[column]]


def having(ids: list[str], Y: csr_array, label: int, k: int) -> list[tuple[str, np.ndarray]]:
    """The first k documents that have the label, with the numbers of their labels."""
    return [(ids[row], Y.indices[Y.indptr[row] : Y.indptr[row + 1]]) for row in _rows(Y, label)[:k].tolist()]


def _rows(Y: csr_array, label: int) -> np.ndarray:
    """The rows of a matrix [documents, labels] that have the label."""
    places = np.flatnonzero(Y.indices == label)
    rows: np.ndarray = np.searchsorted(Y.indptr, places, side="right") - 1
    return rows
