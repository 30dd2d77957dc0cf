"""Prediction with a trained ECLARE (Fig. 6): plain matrices, no torch.

Everything that does not depend on the document is precomputed: a label's classifier is one row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from longtail.errors import ModelIntegrityError
from longtail.graph.normalise import by_rows
from longtail.shortlist.candidate_features import FLOOR, EncodedDocuments
from longtail.shortlist.candidates import Candidates, mean_of
from longtail.shortlist.cell_search import CellSearch
from longtail.shortlist.embedding import Embedding
from longtail.shortlist.game import Game
from longtail.shortlist.meta_shortlist import ClusterSearch, MetaShortlist
from longtail.shortlist.scoring import score, sigmoid, softsign
from longtail.storage.schema import ArraySet, array
from longtail.storage.sparse import has_entries
from longtail.systems.eclare.config import EclareConfig
from longtail.systems.eclare.ranking import RankedRows, Ranking, feature_columns

CANDIDATE_FEATURES = ("classifier", "neighbours", "cluster")
"""Score of the label's classifier; log of its probability after GAME among the candidates; log probability of its
cluster, at its floor outside the shortlist."""


@dataclass(frozen=True, slots=True, eq=False)
class Weights(ArraySet):
    """The exported weights of one model.

    Symbols: vocabulary V, width D, labels L, clusters K (0: every label is ranked), texts and parts of a
    classifier. ``cluster_tokens`` has no rows where clusters use the ranker's tokens, ``attention_*`` none for a
    sum; ``parts`` has the weight of each part in a classifier.
    """

    tokens: np.ndarray = array("float32", "vocabulary", "width", stored="float16")
    residual: np.ndarray = array("float32", "width", "width")
    classifiers: np.ndarray = array("float32", "labels", "width", stored="float16")
    bias: np.ndarray = array("float32", 1)
    cluster_tokens: np.ndarray = array("float32", "cluster_vocabulary", "width", stored="float16")
    cluster_residual: np.ndarray = array("float32", "width", "width")
    cluster_classifiers: np.ndarray = array("float32", "clusters", "width", stored="float16")
    cluster_bias: np.ndarray = array("float32", 1)
    member_ptr: np.ndarray = array("int64", "clusters + 1", pointer_into="clustered")
    members: np.ndarray = array("int32", "clustered", index_below="labels")
    graph_indptr: np.ndarray = array("int64", "labels + 1", pointer_into="edges")
    graph_indices: np.ndarray = array("int32", "edges", index_below="labels")
    graph_data: np.ndarray = array("float32", "edges", low=0)
    cluster_graph_indptr: np.ndarray = array("int64", "clusters + 1", pointer_into="cluster_edges")
    cluster_graph_indices: np.ndarray = array("int32", "cluster_edges", index_below="clusters")
    cluster_graph_data: np.ndarray = array("float32", "cluster_edges", low=0)
    blocks: np.ndarray = array("float32", "texts", "width", "width")
    attention_transform: np.ndarray = array("float32", "attention", "width")
    attention_weigh: np.ndarray = array("float32", "attention_rows", "attention_columns")
    parts: np.ndarray = array("float32", "labels", "parts", stored="float16")

    def check_relations(self) -> None:
        """Sizes that a switch may make empty, and that every label is in one cluster."""
        width, parts = self.tokens.shape[1], self.parts.shape[1]
        attends = len(self.attention_weigh) > 0
        centred = self.attention_weigh.shape[1] == parts * width + 1
        expected = {
            "cluster_tokens": (len(self.cluster_tokens) and len(self.tokens), width),
            "members": (len(self.classifiers) if len(self.cluster_classifiers) else 0,),
            "attention_transform": (width if attends else 0, width),
            "attention_weigh": (parts, parts * width + centred) if attends else (0, width),
        }
        for name, shape in expected.items():
            if getattr(self, name).shape != shape:
                raise ModelIntegrityError(f"{name} is {getattr(self, name).shape}, but must be {shape}")
        if len(self.blocks) not in (parts, parts - 1):
            raise ModelIntegrityError(
                f"blocks is for {len(self.blocks)} texts, but classifiers have {parts} parts"
            )
        if len(np.unique(self.members)) != len(self.members):
            raise ModelIntegrityError("members must have every label once")

    @property
    def graph(self) -> csr_array:
        """Labels x labels."""
        n = len(self.classifiers)
        return csr_array((self.graph_data, self.graph_indices, self.graph_indptr), shape=(n, n))

    @property
    def clusters(self) -> Clusters:
        """The arrays of the shortlister."""
        n = len(self.cluster_classifiers)
        parts = (self.cluster_graph_data, self.cluster_graph_indices, self.cluster_graph_indptr)
        return Clusters(
            tokens=self.cluster_tokens if len(self.cluster_tokens) else self.tokens,
            residual=self.cluster_residual,
            classifiers=self.cluster_classifiers,
            bias=self.cluster_bias,
            member_ptr=self.member_ptr,
            members=self.members,
            graph=csr_array(parts, shape=(n, n)),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """What Module II yields: tokens, the residual of documents; classifiers, labels and graph of clusters."""

    tokens: np.ndarray
    residual: np.ndarray
    classifiers: np.ndarray
    bias: np.ndarray
    member_ptr: np.ndarray
    members: np.ndarray
    graph: csr_array

    def __len__(self) -> int:
        return len(self.classifiers)

    @classmethod
    def none(cls, width: int) -> Clusters:
        """Without clusters every label is ranked."""
        rows, ends = np.zeros((0, width), np.float32), np.zeros(1, np.int64)
        square = np.zeros((width, width), np.float32)
        graph: csr_array = csr_array(np.zeros((0, 0), np.float32))
        return cls(rows, square, rows, np.zeros(1, np.float32), ends, np.zeros(0, np.int32), graph)


def game(graph: csr_array, config: EclareConfig) -> Game:
    """GAME on a graph of clusters or labels."""
    return Game(by_rows(graph) if config.game.by_rows else graph)


class Shortlister:
    """The labels of the best clusters (Sec. 3.4)."""

    def __init__(self, clusters: Clusters, embedding: Embedding, config: EclareConfig) -> None:
        self.embedding, self.bias, self.beam = embedding, clusters.bias, config.shortlist.beam
        self.search = MetaShortlist(clusters.classifiers, clusters.member_ptr, clusters.members)
        self.game = game(clusters.graph, config)

    def __call__(self, X: csr_array, mix: float) -> Candidates:
        """Labels with the probability of their cluster; a mix of 0 leaves GAME out."""
        found = self.search.top_clusters(self.embedding(X), self.beam)
        found = found.with_scores(sigmoid(found.scores + self.bias))
        if mix > 0:
            found = self.game(found, mix=mix, keep=self.beam)
        return self.search.expand(found)


class Predictor:
    """One trained model, ready to predict."""

    def __init__(self, weights: Weights, config: EclareConfig) -> None:
        self.weights, self.config = weights, config
        self.bias = float(weights.bias[0])
        self.embedding = Embedding(weights.tokens, weights.residual)
        self.game = game(weights.graph, config)
        self.mix_clusters = config.game.mix if config.game.clusters else 0.0
        self.mix_labels = config.game.mix if config.game.labels else 0.0
        clusters = weights.clusters
        self.ranking: Ranking | None = None
        if len(clusters):
            shared = not len(weights.cluster_tokens)
            tokens = self.embedding.tokens if shared else clusters.tokens
            embedding = Embedding(tokens, clusters.residual)
            shortlister = Shortlister(clusters, embedding, config)
            self.ranking = Ranking(
                shortlister.search,
                embedding,
                float(shortlister.bias[0]),
                shortlister.beam,
                shortlister.game,
                self.mix_clusters,
                self.embedding,
                weights.classifiers,
                self.bias,
            )
        # Without clusters every label is ranked anyway.
        self.nearest: ClusterSearch | CellSearch | None = None
        if self.ranking is not None and config.shortlist.nearest > 0:
            exact = len(weights.classifiers) < config.shortlist.nearest_exact_below
            self.nearest = (ClusterSearch if exact else CellSearch)(weights.classifiers)

    def __call__(self, X: csr_array) -> Ranked:
        """Embed documents [n, V] and rank their shortlists."""
        return Ranked(self, X)

    def rank(self, X: csr_array) -> RankedRows:
        """Embeddings, the labels to rank with the probabilities of their clusters, and the scores of these labels.

        Without clusters every label is ranked, and the probability is 1.
        """
        if self.ranking is not None:
            return self.ranking(X)
        n, n_labels = X.shape[0], len(self.weights.classifiers)
        ids = np.tile(np.arange(n_labels, dtype=np.int32), n)
        every = Candidates.from_counts(np.full(n, n_labels), ids, np.ones(len(ids), np.float32))
        embedded = self.embedding(X)
        return RankedRows(embedded, every, score(embedded, every, self.weights.classifiers, self.bias))


class Ranked:
    """Documents with their shortlist, as one model ranks it.

    Attributes:
        clusters: the labels of the best clusters with the probabilities of these.
        raw: the shortlist with the scores of the classifiers.
    """

    def __init__(self, model: Predictor, X: csr_array) -> None:
        self.model = model
        self.embedded, self.clusters, self.raw = model.rank(X)
        if model.nearest is not None:
            near = model.nearest.top(self.embedded, model.config.shortlist.nearest)
            self.raw = self.raw.union(near.with_scores(near.scores + model.weights.bias))

    def scored(self) -> Candidates:
        """The shortlist with the final score (Sec. 3.5), between 0 and 1."""
        config = self.model.config
        if config.score == "classifier" and config.rank_loss != "bce":
            # Ranking losses fix differences of scores, not their level: a sigmoid would round high scores to 1.
            # A softmax over the shortlist would change the scores of other labels when labels are added.
            return self.raw.with_scores(softsign(self.raw.scores))
        probability = self.raw.with_scores(sigmoid(self.raw.scores))
        if config.score == "classifier":
            return probability
        if self.model.mix_labels > 0:
            probability = self.model.game(probability, mix=self.model.mix_labels, expand=False)
        return probability.with_scores(probability.scores * probability.scores_in(self.clusters, 0.0))

    def features(self, candidates: Candidates) -> np.ndarray:
        """``CANDIDATE_FEATURES`` of any candidates [entries, 3]."""
        model = self.model
        return feature_columns(
            self.embedded,
            candidates,
            self.raw,
            self.clusters,
            model.weights.classifiers,
            model.bias,
            model.game,
            smooth=model.mix_labels > 0,
            floor=FLOOR,
        )


class Encoded(EncodedDocuments):
    """A batch of documents as one or several models rank it."""

    def __init__(self, X: csr_array, models: Sequence[Predictor]) -> None:
        self.readable = has_entries(X)
        self.ranked = [model(X) for model in models]

    @cached_property
    def scored(self) -> Candidates:
        """The mean over models; a label that a model did not rank counts 0 there."""
        return mean_of([ranked.scored() for ranked in self.ranked])

    def shortlist(self, size: int) -> Candidates:
        """All labels of the best clusters with their scores."""
        return self.scored

    def features(self, candidates: Candidates) -> np.ndarray:
        """``CANDIDATE_FEATURES``, the mean over models."""
        found = [ranked.features(candidates) for ranked in self.ranked]
        return found[0] if len(found) == 1 else np.asarray(np.mean(found, axis=0), np.float32)
