"""A trained ECLARE as plain matrices: what prediction needs, and nothing of torch (Fig. 6).

Everything that does not depend on the document is computed once: a label's classifier is one row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from longtail.shortlist.candidates import Candidates
from longtail.shortlist.embedding import Embedding
from longtail.shortlist.game import Game
from longtail.shortlist.meta_shortlist import MetaShortlist
from longtail.shortlist.scoring import score
from longtail.systems.common.fusion import FLOOR, Fusion, sigmoid
from longtail.systems.common.label_texts import LabelTexts
from longtail.systems.eclare.config import EclareConfig
from longtail.systems.eclare.weights import Weights


@dataclass(frozen=True, slots=True)
class Shortlister:
    """Clusters of labels: the embedding they see, their classifiers and members, and their graph."""

    embedding: Embedding
    clusters: MetaShortlist
    game: Game
    bias: np.ndarray
    beam: int

    @classmethod
    def of(cls, weights: Weights, beam: int) -> Shortlister:
        """From folded weights."""
        shared = not len(weights.cluster_tokens)
        return cls(
            Embedding(weights.tokens if shared else weights.cluster_tokens, weights.cluster_residual),
            MetaShortlist(weights.cluster_classifiers, weights.member_ptr, weights.members),
            Game(weights.cluster_graph),
            weights.cluster_bias,
            beam,
        )

    def __call__(self, X: csr_array, mix: float) -> Candidates:
        """The labels of the best clusters with their cluster's score (Sec. 3.4); a mix of 0 leaves GAME out."""
        found = self.clusters.top_clusters(self.embedding(X), self.beam)
        found = found.with_scores(sigmoid(found.scores + self.bias))
        if mix > 0:
            found = self.game(found, mix=mix, keep=self.beam)
        return self.clusters.expand(found)


class Folded:
    """One trained model, ready to predict.

    Args:
        weights: the folded matrices.
        texts: label texts.
        lexical: labels of alike text that join a shortlist.
        beam: clusters that a shortlist is made of.
        mix_clusters: the share of the clusters' scores that comes along edges (0: no GAME there).
        mix_labels: the same of the labels' scores, in the paper's product.
    """

    def __init__(
        self,
        weights: Weights,
        texts: LabelTexts,
        *,
        lexical: int,
        beam: int,
        mix_clusters: float,
        mix_labels: float,
    ) -> None:
        self.weights = weights
        self.texts = texts
        self.lexical = lexical
        self.mix_clusters, self.mix_labels = mix_clusters, mix_labels
        self.embedding = Embedding(weights.tokens, weights.residual)
        self.game = Game(weights.graph)
        self.shortlister = Shortlister.of(weights, beam) if len(weights.cluster_classifiers) else None
        taught = len(weights.fusion_start) > 0
        self.fusion = Fusion(weights.fusion_weights, weights.fusion_start, weights.group) if taught else None

    def shortlist(self, X: csr_array, linear: Candidates | None = None) -> Candidates:
        """The labels to rank, with their clusters' scores (0 where something else brought a label in).

        Args:
            linear: the best labels of a linear tree, with the logarithms of their scores.
        """
        n, n_labels = X.shape[0], len(self.weights.classifiers)
        if self.shortlister is None:
            ids = np.tile(np.arange(n_labels, dtype=np.int32), n)
            return Candidates.from_counts(np.full(n, n_labels), ids, np.ones(len(ids), np.float32))
        found = self.shortlister(X, self.mix_clusters)
        if self.lexical:
            found = found.union(self.texts.top(X, self.lexical), fill=0.0)
        return found if linear is None else found.union(linear, fill=0.0)

    def __call__(self, X: csr_array, linear: Candidates | None = None) -> Candidates:
        """The candidates of each document with their final scores, between 0 and 1 (Sec. 3.5)."""
        candidates = self.shortlist(X, linear)
        if self.fusion is not None:
            return self.fusion(candidates, self.evidence(X, candidates, linear))
        ranked = self.rank(X, candidates)
        ranked = ranked.with_scores(sigmoid(ranked.scores))
        if self.mix_labels > 0:
            ranked = self.game(ranked, mix=self.mix_labels, expand=False)
        return candidates.with_scores(ranked.scores * candidates.scores)

    def rank(self, X: csr_array, candidates: Candidates) -> Candidates:
        """The candidates with the raw scores of their classifiers."""
        found = score(self.embedding(X), candidates, self.weights.classifiers)
        return found.with_scores(found.scores + self.weights.bias)

    def evidence(self, X: csr_array, candidates: Candidates, linear: Candidates | None = None) -> np.ndarray:
        """What is known of each candidate [entries, kinds], as ``weights.EVIDENCE`` names it."""
        raw = self.rank(X, candidates)
        spread = raw.with_scores(np.ones(len(raw.ids), np.float32))
        if self.mix_labels > 0:
            spread = self.game(raw.with_scores(sigmoid(raw.scores)), mix=1.0, expand=False)
        by_tree = np.full(len(candidates.ids), np.log(FLOOR), np.float32)
        if linear is not None:
            by_tree = candidates.scores_in(linear, fill=float(np.log(FLOOR)))
        return np.stack(
            [
                raw.scores,
                np.log(np.maximum(spread.scores, FLOOR)),
                np.log(np.maximum(candidates.scores, FLOOR)),
                self.texts.match(X, candidates).scores,
                by_tree,
                np.exp(by_tree),
            ],
            axis=1,
        )


def folded_model(weights: Weights, texts: LabelTexts, config: EclareConfig) -> Folded:
    """The weights, ready to predict as configured."""
    game = config.game
    return Folded(
        weights,
        texts,
        lexical=config.shortlist.lexical,
        beam=config.shortlist.beam,
        mix_clusters=game.mix if game.clusters else 0.0,
        mix_labels=game.mix if game.labels else 0.0,
    )
