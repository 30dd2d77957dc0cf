"""A trained GNN-XML as plain matrices: what prediction needs, and nothing of torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from longtail.shortlist.candidates import Candidates
from longtail.shortlist.dense import Dense
from longtail.systems.common.fusion import FLOOR, sigmoid
from longtail.systems.common.label_texts import LabelTexts
from longtail.systems.gnnxml.config import GnnxmlConfig, NetworkConfig
from longtail.systems.gnnxml.packing import Packed
from longtail.systems.gnnxml.rankers import Rankers, RankerSearch, joined_features
from longtail.systems.gnnxml.weights import LAYER_ARRAYS, Weights, layers_of, n_shared

LOWEST = -12.0
"""The score of a ranker that was not asked, as its cluster is too unlikely."""


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """Documents to tag: TF-IDF rows, keyword graphs, embeddings (sums of vertices), and the linear tree's best."""

    X: csr_array
    packed: Packed
    embeddings: np.ndarray
    linear: Candidates | None = None


class FoldedNetwork:
    """The graph matching model: GIN layers and classifiers as products with normalisation already in them."""

    def __init__(self, arrays: Mapping[str, np.ndarray], config: NetworkConfig) -> None:
        self.config = config
        self.classifiers = [
            Dense.of(arrays[f"{b}/classifier"], arrays[f"{b}/bias"], relu=False)
            for b in range(config.branches)
        ]
        self.layers = {
            (owner, k): _Layer.of({name: arrays[f"{owner}/{k}/{name}"] for name in LAYER_ARRAYS})
            for owner, k in layers_of(config)
        }

    def __call__(self, packed: Packed) -> np.ndarray:
        """Scores of clusters before the sigma, at alpha = 0.5 [n, K]."""
        shared = [packed.features]
        for k in range(n_shared(self.config)):
            shared.append(self.layers["shared", k](shared[-1], packed))
        found = [self._branch(number, shared, packed) for number in range(self.config.branches)]
        return np.asarray(sum(found) / np.float32(len(found)), np.float32)

    def _branch(self, number: int, shared: list[np.ndarray], packed: Packed) -> np.ndarray:
        orders = list(shared)
        for k in range(n_shared(self.config), self.config.layers):
            orders.append(self.layers[str(number), k](orders[-1], packed))
        sums = [packed.membership @ h for h in (orders if self.config.concatenate else orders[-1:])]
        return self.classifiers[number](np.concatenate(sums, axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class _Layer:
    """A folded GIN layer."""

    factor: np.ndarray
    inner: Dense
    outer: Dense

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray]) -> _Layer:
        inner, outer = (
            Dense.of(arrays[name], arrays[f"{name}_bias"], relu=True) for name in ("inner", "outer")
        )
        return cls(arrays["factor"], inner, outer)

    def __call__(self, h: np.ndarray, packed: Packed) -> np.ndarray:
        return self.outer(self.inner(self.factor * h + packed.edges @ h))


class Folded:
    """One trained model, ready to predict.

    Args:
        texts: label texts.
        n_words: columns of TF-IDF rows.
        width: numbers of a document's embedding.
    """

    def __init__(
        self,
        weights: Weights,
        rankers: Rankers,
        texts: LabelTexts,
        config: GnnxmlConfig,
        *,
        n_words: int,
        width: int,
    ) -> None:
        self.weights, self.rankers, self.texts, self.config = weights, rankers, texts, config
        self.network = FoldedNetwork(weights.network, config.network)
        self.n_features = n_words + (width if config.ranker.embedding else 0)
        self.search = RankerSearch(rankers, weights.clusters, self.n_features)
        self.fusion = weights.fusion
        self._cluster_of = weights.clusters.of_labels(len(weights.group))

    def __call__(self, queries: Queries) -> Candidates:
        """The candidates of each document with their final scores, between 0 and 1."""
        log_clusters, raw = self.asked(queries)
        product = self.product(raw, log_clusters)
        if self.fusion is None:
            return product.with_scores(np.exp(product.scores))
        candidates = self.shortlist(queries, product)
        return self.fusion(candidates, self.evidence(queries, candidates, log_clusters, raw))

    def asked(self, queries: Queries) -> tuple[np.ndarray, Candidates]:
        """The logarithms of the clusters' probabilities [n, K], and the rankers' scores in the most likely ones."""
        scores = self.network(queries.packed)
        log_clusters = np.log(np.maximum(sigmoid(scores), FLOOR))
        chosen = Candidates.from_dense(scores, min(self.config.ranker.beam, scores.shape[1]))
        return log_clusters, self.search(self.features(queries), chosen)

    def features(self, queries: Queries) -> csr_array:
        """What rankers see of documents."""
        config = self.config.ranker
        return joined_features(
            queries.X, queries.embeddings if config.embedding else None, config.embedding_weight
        )

    def product(self, raw: Candidates, log_clusters: np.ndarray) -> Candidates:
        """log (probability of the cluster x probability of the label in it)."""
        return raw.with_scores(self._of_clusters(raw, log_clusters) + self.log_probability(raw.scores))

    def log_probability(self, raw: np.ndarray) -> np.ndarray:
        """Of a label where its cluster is right, from its ranker's score."""
        if self.config.ranker.solver.loss == "logistic":
            return np.asarray(-np.logaddexp(0, -raw.astype(np.float64)), np.float32)
        return np.asarray(-(np.maximum(0, 1 - raw) ** 3), np.float32)

    def shortlist(self, queries: Queries, product: Candidates) -> Candidates:
        """The labels that the learnt score looks at."""
        found = product.best(self.config.candidates)
        if self.config.lexical:
            found = found.union(self.texts.top(queries.X, self.config.lexical), fill=0.0)
        return found if queries.linear is None else found.union(queries.linear, fill=0.0)

    def evidence(
        self, queries: Queries, candidates: Candidates, log_clusters: np.ndarray, raw: Candidates
    ) -> np.ndarray:
        """What is known of each candidate [entries, kinds], as ``weights.EVIDENCE`` names it."""
        ranked = candidates.scores_in(raw, fill=LOWEST)
        cluster = self._of_clusters(candidates, log_clusters)
        by_tree = np.full(len(candidates.ids), np.log(FLOOR), np.float32)
        if queries.linear is not None:
            by_tree = candidates.scores_in(queries.linear, fill=float(np.log(FLOOR)))
        return np.stack(
            [
                cluster + self.log_probability(ranked),
                cluster,
                ranked,
                self.texts.match(queries.X, candidates).scores,
                by_tree,
                np.exp(by_tree),
            ],
            axis=1,
        )

    def _of_clusters(self, candidates: Candidates, log_clusters: np.ndarray) -> np.ndarray:
        """The logarithm of the probability of each candidate's cluster; the least one for labels in none."""
        clusters = self._cluster_of[candidates.ids]
        there = log_clusters[candidates.rows, np.maximum(clusters, 0)]
        return np.asarray(np.where(clusters >= 0, there, np.log(FLOOR)), np.float32)
