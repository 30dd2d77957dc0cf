"""Prediction: the ranking classifier over all labels or over those of the best clusters (Sec. 3.4).

The guide network is not part of a trained model: no label text is read.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from longtail.errors import ModelIntegrityError
from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.shortlist.candidates import Candidates
from longtail.shortlist.cluster_members import best_members
from longtail.shortlist.meta_shortlist import ClusterSearch, MetaShortlist
from longtail.shortlist.scoring import score, sigmoid
from longtail.storage import checks
from longtail.storage.schema import ArraySet, array

FEATURES = ("classifier", "probability")
"""Feature columns: the score of the ranking classifier, and its sigmoid."""


@dataclass(frozen=True, slots=True, eq=False)
class Weights(ArraySet):
    """The ranking classifier and what leads to it; the last column of each matrix is a bias.

    Attributes:
        labels: one vector per label.
        project: features to the query of label vectors; 0 rows: the features are the query.
        clusters: classifiers of label clusters; 0 rows: all labels are ranked.
        cluster_of: the cluster of each label; 0 where there are none.
    """

    labels: np.ndarray = array("float32", "labels", "query + 1", stored="float16")
    project: np.ndarray = array("float32", "projected", "features + 1")
    clusters: np.ndarray = array("float32", "clusters", "features + 1", stored="float16")
    cluster_of: np.ndarray = array("int64", "labels")

    def check_relations(self) -> None:
        """Queries fit label vectors, and every label is in a cluster."""
        query = len(self.project) or self.project.shape[1] - 1
        if self.labels.shape[1] != query + 1:
            raise ModelIntegrityError(f"labels must have {query + 1} columns, not {self.labels.shape[1]}")
        checks.within(self.cluster_of, 0, max(len(self.clusters), 1), "cluster_of")

    def query(self, features: np.ndarray) -> np.ndarray:
        """What label vectors are multiplied with [n, query + 1], of features [n, features]."""
        extended = with_ones(features)
        width = len(self.project)
        if not width:
            return extended
        # A kernel whose sums do not depend on the number of documents, unlike a matrix product.
        every = Candidates.from_counts(
            np.full(len(extended), width),
            np.tile(np.arange(width, dtype=np.int32), len(extended)),
            np.zeros(len(extended) * width, np.float32),
        )
        return with_ones(score(extended, every, self.project).scores.reshape(-1, width))


class Predictor:
    """Shortlists and scores labels.

    Args:
        warm: labels with training documents, bool [L]; no other label is shortlisted.
        beam: clusters per document whose labels are ranked.
    """

    def __init__(self, weights: Weights, warm: np.ndarray, beam: int) -> None:
        self.weights, self.beam = weights, beam
        self.warm = np.flatnonzero(warm).astype(np.int32)
        self.clusters: MetaShortlist | None = None
        self.exhaustive: ClusterSearch | None = None
        if len(weights.clusters):
            cluster_of = weights.cluster_of[self.warm]
            counts = np.bincount(cluster_of, minlength=len(weights.clusters))
            members = self.warm[np.argsort(cluster_of, kind="stable")]
            self.clusters = MetaShortlist(weights.clusters, np.concatenate([[0], np.cumsum(counts)]), members)
        else:
            every = len(self.warm) == len(weights.labels)
            self.exhaustive = ClusterSearch(weights.labels if every else weights.labels[self.warm])

    def best(self, features: np.ndarray, query: np.ndarray, size: int) -> Candidates:
        """The ``size`` best labels of each document with the scores of the ranking classifier."""
        if self.clusters is None:
            assert self.exhaustive is not None
            found = self.exhaustive.top(query, size)
            return Candidates(found.indptr, self.warm[found.ids], found.scores)
        clusters = self.clusters.top_clusters(with_ones(features), self.beam)
        return best_members(query, clusters, self.clusters, self.weights.labels, size)


class EncodedTexts(EncodedDocuments):
    """Documents by the features of the encoder.

    Args:
        features: [n, features] of the encoder.
        readable: whether a document has any token, bool [n].
    """

    def __init__(self, features: np.ndarray, readable: np.ndarray, predictor: Predictor) -> None:
        self.encoded, self.readable, self.predictor = features, readable, predictor
        self.query = predictor.weights.query(features)

    def shortlist(self, size: int) -> Candidates:
        """The best labels with their probability by the ranking classifier."""
        found = self.predictor.best(self.encoded, self.query, size)
        return found.with_scores(sigmoid(found.scores))

    def features(self, candidates: Candidates) -> np.ndarray:
        """``FEATURES`` of any candidates; the vector of a cold label was trained on negatives alone."""
        scores = score(self.query, candidates, self.predictor.weights.labels).scores
        return np.stack([scores, sigmoid(scores)], axis=1)


def with_ones(x: np.ndarray) -> np.ndarray:
    """The rows [n, d] with a constant one as last column [n, d + 1]."""
    return np.concatenate([x, np.ones((len(x), 1), np.float32)], axis=1)
