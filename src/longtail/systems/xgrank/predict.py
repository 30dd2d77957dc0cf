"""Prediction: the margins of one model or of several, and the system's own shortlist.

GRank is invariant to a shift of all scores of a document, so a raw score g has no meaning of its own. It becomes a
margin m, normalised over the labels l that the system itself ranks: those in the beam, or all without clusters.

softmax    m = g - log sum_l exp(g_l)
zscore     m = (g - mean_l g_l) / std_l g_l

Then models are averaged (softmax: the logarithm of the mean probability). A margin depends on the document and the
label alone, whoever proposed the label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.shortlist.candidates import Candidates, union_of
from longtail.systems.xgrank.config import Combine
from longtail.systems.xgrank.margin_curve import MarginCurve
from longtail.systems.xgrank.ranking_model import NOT_RETRIEVED, DocumentVectors, RankingModel
from longtail.text.feature_store import FeatureStore

DEPTH = 500
"""Labels per document that are kept where all labels are ranked."""
MOST_SCORES = 2**22
"""Documents times labels that are ranked at once where there are no clusters."""


@dataclass(frozen=True, slots=True)
class Predictor:
    """A trained X-GRank.

    Attributes:
        models: all with clusters, or all without.
        combine: how scores are normalised.
        curve: from margins to scores.
        beam: clusters per document and model whose labels are ranked.
        nearest: labels of highest score that are ranked besides.
    """

    models: Sequence[RankingModel]
    combine: Combine
    curve: MarginCurve
    beam: int
    nearest: int

    def encode(self, store: FeatureStore) -> list[DocumentVectors]:
        """The vectors of the documents, by model."""
        return [model.encode(store) for model in self.models]


def normalisation(ranked: Candidates, combine: Combine) -> np.ndarray:
    """Centre and scale of the scores of each document, float64 [2, n]."""
    counts, scores = ranked.counts, ranked.scores.astype(np.float64)
    centre, scale = np.zeros(len(ranked)), np.ones(len(ranked))
    there = np.flatnonzero(counts)
    starts = ranked.indptr[:-1][there]
    if len(there) and combine == "zscore":
        centre[there] = np.add.reduceat(scores, starts) / counts[there]
        squares = np.add.reduceat((scores - np.repeat(centre, counts)) ** 2, starts)
        scale[there] = np.maximum(np.sqrt(squares / counts[there]), 1e-6)
    elif len(there):
        best = np.maximum.reduceat(scores, starts)
        sums = np.add.reduceat(np.exp(scores - np.repeat(best, counts[there])), starts)
        centre[there] = best + np.log(sums)
    return np.stack([centre, scale])


def margins(ranked: Sequence[Candidates], norms: np.ndarray, combine: Combine) -> np.ndarray:
    """The margin of each candidate, averaged over models.

    Args:
        ranked: the same candidates with the scores of each model.

    Shapes:
        norms [models, 2, n] -> float32 [entries]
    """
    found: list[np.ndarray] = []
    for part, of_model in zip(ranked, norms, strict=True):
        centre, scale = np.repeat(of_model, part.counts, axis=1)
        found.append(((part.scores - centre) / scale).astype(np.float32))
    if len(found) == 1:
        return found[0]
    if combine == "zscore":
        return np.asarray(np.mean(found, axis=0, dtype=np.float64), np.float32)
    return np.asarray(np.logaddexp.reduce(found, axis=0) - np.log(len(found)), np.float32)


class EncodedTexts(EncodedDocuments):
    """Documents as the models read them.

    Attributes:
        clusters: those in the beam, by model; empty without clusters.
        own: the labels that the system itself ranks, with their margins; without clusters the ``DEPTH`` best.
        norms: what normalises the scores of any label [models, 2, n].
    """

    def __init__(self, predictor: Predictor, vectors: list[DocumentVectors]) -> None:
        self.predictor, self.combine = predictor, predictor.combine
        self.models = list(zip(predictor.models, vectors, strict=True))
        self.readable = np.any([of_model.readable for of_model in vectors], axis=0)
        self.clusters: list[Candidates] = []
        if predictor.models[0].clusters is None:
            self.own, self.norms = self._rank_all(DEPTH)
        else:
            self.clusters = [model.retrieve(of_model, predictor.beam) for model, of_model in self.models]
            self.own, self.norms = self._rank_beam()

    def shortlist(self, size: int) -> Candidates:
        """The ``size`` best labels of the best clusters with scores between 0 and 1."""
        own = self.own if self.clusters or size <= DEPTH else self._rank_all(size)[0]
        return own.with_scores(self.predictor.curve(own.scores)).best(size)

    def features(self, candidates: Candidates) -> np.ndarray:
        """Margin, and the score of the label's cluster below that of the best cluster, the mean over models.

        Without clusters a label among the ``DEPTH`` best has 0 for the latter, any other label ``NOT_RETRIEVED``.
        """
        if self.clusters:
            below = [
                model.below_best_cluster(candidates, found)
                for (model, _), found in zip(self.models, self.clusters, strict=True)
            ]
            retriever = np.mean(below, axis=0)
        else:
            best = self.own.with_scores(np.zeros(len(self.own.ids)))
            retriever = candidates.scores_in(best, float(NOT_RETRIEVED))
        margin = candidates.scores_in(self.own, np.nan)
        missing = np.isnan(margin)
        margin[missing] = self._margins(candidates.where(missing), self.norms)
        return np.stack([margin, retriever], axis=1).astype(np.float32)

    def _margins(self, candidates: Candidates, norms: np.ndarray) -> np.ndarray:
        ranked = [model.rank(vectors, candidates) for model, vectors in self.models]
        return margins(ranked, norms, self.combine)

    def _rank_beam(self) -> tuple[Candidates, np.ndarray]:
        """The labels in the beam of any model and those nearest to it, ranked by every model."""
        ranked = [
            model.labels_of(vectors, found)
            for (model, vectors), found in zip(self.models, self.clusters, strict=True)
        ]
        if self.predictor.nearest:
            nearest = [model.nearest(vectors, self.predictor.nearest) for model, vectors in self.models]
            ranked = [found.union(near) for found, near in zip(ranked, nearest, strict=True)]
        if len(ranked) > 1:
            every = union_of(ranked)
            ranked = [
                model.rank(vectors, every, scored)
                for (model, vectors), scored in zip(self.models, ranked, strict=True)
            ]
        norms = np.stack([normalisation(part, self.combine) for part in ranked])
        return ranked[0].with_scores(margins(ranked, norms, self.combine)), norms

    def _rank_all(self, size: int) -> tuple[Candidates, np.ndarray]:
        """The ``size`` best of all labels; a few documents at a time, as every score is there for a moment."""
        n, step = len(self.readable), max(1, MOST_SCORES // len(self.predictor.models[0].ranker.labels))
        found, parts = [], []
        for start in range(0, n, step):
            ranked = [model.all_labels(v.ranked[start : start + step]) for model, v in self.models]
            parts.append(np.stack([normalisation(part, self.combine) for part in ranked]))
            found.append(ranked[0].with_scores(margins(ranked, parts[-1], self.combine)).best(size))
        best, norms = Candidates.stack(found), np.concatenate(parts, axis=2)
        # Added in the same order as for any other candidates: the same margins, to the last bit.
        return best.with_scores(self._margins(best, norms)), norms
