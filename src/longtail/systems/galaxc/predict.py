"""A trained GalaXC as plain matrices and two indices: prediction without torch (Fig. 3).

A new document is joined with its known labels, its auxiliary edges and its nearest nodes (the first search). Its
resolutions are convolved and transformed. A second search finds the labels of nearest embedding, and the attention
classifiers of these labels give the scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array

from longtail.graph.cooccurrence import cooccurrence_counts
from longtail.graph.hop_sums import combine, hop_terms
from longtail.graph.joint import JointGraph
from longtail.graph.layers import layers_of
from longtail.shortlist.ann import AnnIndex
from longtail.shortlist.ann_graph import EF_CONSTRUCTION, M
from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.shortlist.candidates import Candidates, union_of
from longtail.shortlist.cell_search import CellSearch
from longtail.shortlist.layered import LayeredWeights
from longtail.shortlist.meta_shortlist import ClusterSearch
from longtail.shortlist.resolutions import attended, transformed
from longtail.shortlist.scoring import score, sigmoid, softmax
from longtail.storage.schema import ArraySet, array
from longtail.systems.galaxc.config import GalaxcConfig
from longtail.systems.galaxc.node_index import NodeIndex, first_of, no_pairs, rows_of, unit

FEATURES = ("classifier", "shortlist", "votes", "initial", "cooccurrence")
"""The feature columns of a candidate: the classifier's score before the sigmoid, the cosine of the shortlist (0 if
the search did not find the label), the logarithm of the votes of near training documents, the cosine of the initial
embeddings, and the logarithm of the co-occurrence with revealed labels."""

FEWEST_VOTES = np.float32(0.01)
"""Added to the votes, before the logarithm."""

LEAST_COOCCURRENCE = np.float32(0.001)
"""Added to the co-occurrence, before the logarithm."""

COOCCURRING_KEPT = 50
"""Labels that are kept per label as co-occurring, itself included."""

MOST_COOCCURRING = 100
"""Labels that revealed labels add to a shortlist at most."""

MOST_VOTED = 200
"""Labels that near documents add to a shortlist at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Weights(ArraySet):
    """The arrays of a trained model, beside its indices.

    Attributes:
        transform, shift: the transformation of each resolution.
        eps: of the convolutions (zeros for GIN and GraphSAGE).
        classifiers, attention, bias: of the labels.
        node_of_document, node_of_label, graph_indptr, graph_indices: the joint graph.
        known_indptr, known_indices: the known labels of documents, by node.
    """

    transform: np.ndarray = array("float32", "resolutions", "width", "width")
    shift: np.ndarray = array("float32", "resolutions", "width")
    eps: np.ndarray = array("float32", "hops")
    classifiers: np.ndarray = array("float32", "labels", "width", stored="float16")
    attention: np.ndarray = array("float32", "labels", "resolutions")
    bias: np.ndarray = array("float32", 1)
    node_of_document: np.ndarray = array("int32", "documents", index_below="nodes")
    node_of_label: np.ndarray = array("int32", "labels", index_below="nodes")
    graph_indptr: np.ndarray = array("int64", "nodes + 1", pointer_into="entries")
    graph_indices: np.ndarray = array("int32", "entries", index_below="nodes")
    known_indptr: np.ndarray = array("int64", "nodes + 1", pointer_into="pairs")
    known_indices: np.ndarray = array("int32", "pairs", index_below="labels")

    @property
    def graph(self) -> JointGraph:
        """The joint graph; which entries are a document's own labels matters in training alone."""
        own = np.zeros(len(self.graph_indices), np.bool_)
        return JointGraph(
            self.node_of_document, self.node_of_label, self.graph_indptr, self.graph_indices, own
        )

    @property
    def labels_of(self) -> csr_array:
        """Nodes x labels."""
        ones = np.ones(len(self.known_indices), np.float32)
        shape = (len(self.known_indptr) - 1, len(self.classifiers))
        return csr_array((ones, self.known_indices, self.known_indptr), shape=shape)


def graph_arrays(nodes: NodeIndex) -> dict[str, np.ndarray]:
    """The arrays of ``Weights`` that describe the graph and the known labels."""
    graph, known = nodes.graph, nodes.labels_of
    return {
        "node_of_document": graph.node_of_document.astype(np.int32),
        "node_of_label": graph.node_of_label.astype(np.int32),
        "graph_indptr": graph.indptr.astype(np.int64),
        "graph_indices": graph.indices.astype(np.int32),
        "known_indptr": known.indptr.astype(np.int64),
        "known_indices": known.indices.astype(np.int32),
    }


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """Documents to tag.

    Attributes:
        vectors: initial embeddings [n, D].
        nodes: their nodes if they are in the graph already, or -1 [n].
        linked: nodes that they have auxiliary edges to [n, m], -1 padded; None: no edges.
        revealed: known labels [n, L]; None: none.
    """

    vectors: np.ndarray
    nodes: np.ndarray
    linked: np.ndarray | None = None
    revealed: csr_array | None = None

    @property
    def readable(self) -> np.ndarray:
        """Whether a document has a known token, a known label or an edge, bool [n]."""
        found = self.vectors.any(axis=1)
        if self.revealed is not None:
            found = found | (np.diff(self.revealed.indptr) > 0)
        if self.linked is not None:
            found = found | (self.linked >= 0).any(axis=1)
        return np.asarray(found)


class Resolutions(NamedTuple):
    """Embeddings of documents per resolution, float32 [n, K, D]."""

    convolved: np.ndarray
    transformed: np.ndarray


class Predictor:
    """A trained model, ready to predict.

    Args:
        weights: the exported matrices.
        nodes: initial embeddings, graph and search.
        labels: the embeddings that labels are found by; None: their classifiers are searched.
        layered: the weights of GIN or GraphSAGE, by name.
    """

    def __init__(
        self,
        weights: Weights,
        nodes: NodeIndex,
        labels: AnnIndex | None,
        config: GalaxcConfig,
        layered: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        self.weights, self.nodes, self.labels, self.config = weights, nodes, labels, config
        self.layered_arrays, self.layered = layered, None
        kind = config.graph.encoder
        if layered is not None and kind != "galaxc":
            self.layered = LayeredWeights.of(kind, layered)
        self.label_vectors = nodes.vectors[weights.node_of_label]
        self.label_counts = np.bincount(weights.known_indices, minlength=len(weights.classifiers))

    def with_nodes(self, nodes: NodeIndex) -> Predictor:
        """The same model over a graph with further documents."""
        weights = replace(self.weights, **graph_arrays(nodes))
        return Predictor(weights, nodes, self.labels, self.config, self.layered_arrays)

    def join(self, queries: Queries, nodes: NodeIndex | None = None) -> tuple[np.ndarray, Candidates]:
        """The neighbours [n, m] of documents, and the votes of near documents (the first search)."""
        nodes = nodes or self.nodes
        width, voters = self._n_neighbours, min(self.config.shortlist.voters, nodes.graph.n_nodes)
        near, cosines = nodes.near(queries.vectors, max(width, voters), queries.nodes)
        known = self._known_neighbours(queries)
        neighbours = first_of(width, *known, near)
        if not self.config.neighbourhood.fill and queries.revealed is not None:
            warm = np.diff(queries.revealed.indptr) > 0
            neighbours[warm] = first_of(width, *known)[warm]
        return neighbours, nodes.votes(near[:, :voters], cosines[:, :voters])

    @property
    def _n_neighbours(self) -> int:
        """Neighbours of a document: more than there are nodes change nothing."""
        return min(self.config.graph.neighbours, self.nodes.graph.n_nodes)

    def _known_neighbours(self, queries: Queries) -> list[np.ndarray]:
        """Neighbours that come before the nearest ones: revealed labels, then auxiliary edges."""
        tables = []
        if queries.revealed is not None:
            known = queries.revealed
            table = np.full((known.shape[0], max(int(np.diff(known.indptr).max(initial=0)), 1)), -1, np.int32)
            rows = np.repeat(np.arange(known.shape[0]), np.diff(known.indptr))
            place = np.arange(known.nnz) - known.indptr[rows]
            # Rare labels are the most informative neighbours: they come first.
            order = np.lexsort((known.indices, self.label_counts[known.indices], rows))
            table[rows, place] = self.weights.node_of_label[known.indices[order]]
            tables.append(table[:, : self.config.graph.neighbours])
        if queries.linked is not None:
            tables.append(queries.linked)
        tables = tables or [np.empty((len(queries.vectors), 0), np.int32)]
        # A document that is a node, or a label, is not its own neighbour.
        return [np.where(table == queries.nodes[:, None], np.int32(-1), table) for table in tables]

    def with_queries(self, queries: Queries) -> tuple[NodeIndex, Queries]:
        """The graph with the documents as further nodes, and the documents with their nodes (transductive)."""
        near, _ = self.nodes.near(queries.vectors, self._n_neighbours, queries.nodes)
        neighbours = first_of(self._n_neighbours, *self._known_neighbours(queries), near)
        new = queries.nodes < 0
        n = int(np.count_nonzero(new))
        places = queries.nodes.copy()
        places[new] = self.nodes.graph.n_nodes + np.arange(n)
        unlabelled = no_pairs(n, len(self.weights.classifiers))
        nodes = self.nodes.with_documents([""] * n, queries.vectors[new], neighbours[new], unlabelled)
        return nodes, replace(queries, nodes=places)

    def resolutions(
        self, vectors: np.ndarray, neighbours: np.ndarray, nodes: NodeIndex | None = None
    ) -> Resolutions:
        """Documents with these initial embeddings [n, D] and neighbours [n, m]."""
        nodes = nodes or self.nodes
        graph, seed = self.config.graph, self.config.seed
        if self.layered is not None:
            layers = layers_of(nodes.graph, None, graph.fanouts, seed=seed, neighbours_of=neighbours)
            hops = self.layered(layers, np.concatenate([vectors, nodes.vectors[layers.nodes[0]]]))
        else:
            terms = hop_terms(
                nodes.vectors,
                nodes.graph,
                None,
                graph.fanouts,
                seed=seed,
                neighbours_of=neighbours,
                own_vectors=vectors,
            )
            hops = terms[:, :0] if not graph.fanouts else np.stack(combine(terms, self.weights.eps), axis=1)
        found = np.concatenate([vectors[:, None], hops], axis=1) if graph.include_initial else hops
        if self.config.transform.unit:
            found = unit(found.reshape(-1, found.shape[2])).reshape(found.shape)
        found = np.ascontiguousarray(found, np.float32)
        return Resolutions(found, transformed(found, self.weights.transform, self.weights.shift))

    def nearest_labels(self, documents: Resolutions, size: int | None = None) -> Candidates:
        """The labels of nearest embedding or classifier with their cosines (the second search).

        Classifiers are found by inner product: their cosine is that of vectors which are all as long as the longest
        of them by one more number.
        """
        config = self.config.shortlist
        size = min(size or config.size, len(self.weights.classifiers))
        query = self.label_query(documents)
        if self.labels is None:
            found = self._classifier_search.top(query, size)
            lengths = np.linalg.norm(query, axis=1)[found.rows] * self._longest
            return found.with_scores((found.scores / lengths).astype(np.float32))
        found_padded = self.labels.search(query, size, ef_search=max(config.ef_search, size))
        return Candidates.from_padded(*found_padded)

    @cached_property
    def _classifier_search(self) -> ClusterSearch | CellSearch:
        classifiers = self.weights.classifiers
        exact = len(classifiers) < self.config.shortlist.nearest_exact_below
        return (ClusterSearch if exact else CellSearch)(classifiers)

    @cached_property
    def _longest(self) -> float:
        """The length of the longest classifier."""
        return float(np.linalg.norm(self.weights.classifiers, axis=1).max(initial=0))

    def label_query(self, documents: Resolutions) -> np.ndarray:
        """What labels are searched for: the mean of the resolutions of a document."""
        raw = self.config.shortlist.embedding == "raw"
        return np.asarray((documents.convolved if raw else documents.transformed).mean(axis=1))

    def classify(self, documents: Resolutions, candidates: Candidates) -> Candidates:
        """The candidates with the scores of their classifiers, before the sigmoid."""
        weights = self.weights
        found = attended(documents.transformed, candidates, weights.classifiers, weights.attention)
        return found.with_scores(found.scores + weights.bias)

    @cached_property
    def cooccurrence(self) -> csr_array:
        """The probability of a label (column) given another one (row), for the most frequent pairs [L, L]."""
        labels_of = self.nodes.labels_of
        counts = cooccurrence_counts(labels_of, keep=COOCCURRING_KEPT)
        factors = 1 / np.maximum(self.label_counts, 1)
        return csr_array(diags_array(factors.astype(np.float32)) @ counts)

    def similar_labels(self, labels: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k labels of nearest embedding of each of these, itself among them; -1 for fewer.

        Shapes:
            labels int [n] -> int32 [n, k], float32 [n, k]: labels and cosines
        """
        index = self.labels
        if index is None:
            every = np.arange(len(self.weights.classifiers), dtype=np.int32)
            index = AnnIndex(every, unit(self.weights.classifiers), M, EF_CONSTRUCTION)
        return index.search(rows_of(index, labels), k)


class GraphDocuments(EncodedDocuments):
    """Documents that are joined with the graph: shortlisted and scored by a trained model."""

    def __init__(self, predictor: Predictor, queries: Queries) -> None:
        self.predictor, self.queries = predictor, queries
        self.readable = queries.readable
        nodes: NodeIndex | None = None
        joined = queries
        if predictor.config.graph.transductive:
            nodes, joined = predictor.with_queries(queries)
        self.neighbours, self.votes = predictor.join(joined, nodes)
        self.resolutions = predictor.resolutions(queries.vectors, self.neighbours, nodes)

    @cached_property
    def nearest(self) -> Candidates:
        """The labels of nearest embedding, with their cosines."""
        return self.predictor.nearest_labels(self.resolutions)

    @cached_property
    def cooccurring(self) -> Candidates | None:
        """Labels that co-occur with revealed ones: sums of conditional probabilities."""
        if self.queries.revealed is None:
            return None
        revealed = self.queries.revealed.astype(np.float32)
        return Candidates.from_csr(csr_array(revealed @ self.predictor.cooccurrence))

    def shortlist(self, size: int) -> Candidates:
        """The labels of nearest embedding, of near documents and of co-occurrence, scored by the classifiers.

        The score is the sigmoid with the loss bce. The other losses rank: only differences between the scores of a
        document have a meaning, and the score is the softmax over the shortlist, the sigmoid of the margin
        s_l - log(sum of exp(s_m) over the others). With ``score = ann``: labels of nearest embedding with cosines.
        """
        if self.predictor.config.score == "ann":
            return self.nearest
        parts = [self.nearest, self.votes.best(MOST_VOTED)]
        if self.cooccurring is not None:
            parts.append(self.cooccurring.best(MOST_COOCCURRING))
        found = self.predictor.classify(self.resolutions, union_of(parts))
        if self.predictor.config.loss == "bce":
            return found.with_scores(sigmoid(found.scores))
        return softmax(found)

    def features(self, candidates: Candidates) -> np.ndarray:
        """The columns that ``FEATURES`` names, float32 [entries, 5]."""
        votes = candidates.scores_in(self.votes, fill=0.0)
        cooccurrence = np.zeros(len(candidates.ids), np.float32)
        if self.cooccurring is not None:
            cooccurrence = candidates.scores_in(self.cooccurring, fill=0.0)
        return np.stack(
            [
                self.predictor.classify(self.resolutions, candidates).scores,
                candidates.scores_in(self.nearest, fill=0.0),
                np.log(votes + FEWEST_VOTES),
                score(self.queries.vectors, candidates, self.predictor.label_vectors).scores,
                np.log(cooccurrence + LEAST_COOCCURRENCE),
            ],
            axis=1,
        )
