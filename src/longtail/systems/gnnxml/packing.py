"""Keyword graphs of several documents packed into one graph, as the network takes them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from longtail.graph.keygraph import KeyGraphs


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """The graphs of n documents with V vertices together.

    Shapes:
        features float32 [V, d], or the weights of words [V, words] that vectors are still to be made of;
        edges [V, V] within documents; membership [n, V], ones
    """

    features: np.ndarray | csr_array
    edges: csr_array
    membership: csr_array

    @classmethod
    def of(cls, graphs: KeyGraphs, features: np.ndarray | csr_array, *, weighted: bool) -> Packed:
        """Graphs with their features; edges are weighted by shared sentences, or all 1."""
        edges = graphs.edges
        if not weighted:
            ones = np.ones(edges.nnz, np.float32)
            edges = csr_array((ones, edges.indices, edges.indptr), shape=edges.shape)
        return cls(features, edges, membership_of(graphs.documents))

    @property
    def vectors(self) -> np.ndarray:
        """The features, which are vectors [V, d]."""
        assert isinstance(self.features, np.ndarray)
        return self.features

    def embeddings(self, words: np.ndarray | None = None) -> np.ndarray:
        """The sum of each document's vertices, of unit length (zeros where there is nothing), float32 [n, d].

        Args:
            words: the vectors of words [words, d], where features are weights of words.
        """
        sums = self.membership @ self.features
        return unit(np.asarray(sums if words is None else sums @ words, np.float32))


class GraphStore:
    """Keyword graphs and features of all documents, of which batches take some."""

    def __init__(self, graphs: KeyGraphs, features: np.ndarray | csr_array, *, weighted: bool) -> None:
        self.graphs, self.features, self.weighted = graphs.without_sentences(), features, weighted

    def __len__(self) -> int:
        return len(self.graphs)

    def all(self) -> Packed:
        """The graphs of all documents."""
        return Packed.of(self.graphs, self.features, weighted=self.weighted)

    def take(self, rows: np.ndarray) -> Packed:
        """The graphs of these documents (in any order, any of them twice)."""
        features = self.features[self.graphs.vertices(rows)]
        return Packed.of(self.graphs.take(rows), features, weighted=self.weighted)


def membership_of(documents: np.ndarray) -> csr_array:
    """Documents x vertices, ones where the vertex is the document's; ``documents`` [n + 1]: where they begin."""
    n_vertices = int(documents[-1])
    ones = np.ones(n_vertices, np.float32)
    return csr_array((ones, np.arange(n_vertices), documents), shape=(len(documents) - 1, n_vertices))


def unit(rows: np.ndarray) -> np.ndarray:
    """Dense rows of unit length, each by itself: the same alone and in a batch."""
    lengths = np.sqrt((rows.astype(np.float64) ** 2).sum(axis=1))
    return np.asarray(rows / np.maximum(lengths, 1e-12)[:, None], np.float32)
