"""Prediction: cosine to label texts, inner product with label vectors, votes of near training documents.

The first two are linear in the document's vector, so one exact search with weighted label vectors finds the labels
of highest score among all; votes only add to a score, and every label with a vote is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from longtail.blocks.mean_encoder import MeanEncoder
from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.shortlist.candidates import Candidates
from longtail.shortlist.meta_shortlist import ClusterSearch
from longtail.shortlist.scoring import score
from longtail.shortlist.votes import votes
from longtail.storage.schema import ArraySet, array
from longtail.systems.dual.config import VoteConfig
from longtail.systems.dual.weights import Weights
from longtail.text.feature_store import FeatureStore
from longtail.training.runtime import torch_threads

CANDIDATE_FEATURES = ("score", "cosine", "label_vector", "votes")
FEWEST = 100
"""Labels that a shortlist has at least, so that most shortlists are the same."""
VOTE = np.float32(0.01)
"""A share of the votes as large as this counts log(2)."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelVectors(ArraySet):
    """Vectors of the labels: of their texts (zeros without one), and learned ones."""

    text: np.ndarray = array("float32", "labels", "width", stored="float16")
    learned: np.ndarray = array("float32", "labels", "width", stored="float16")


@dataclass(frozen=True, slots=True, eq=False)
class Voters(ArraySet):
    """Vectors of the training documents (zeros for one without text or label), and their labels."""

    vectors: np.ndarray = array("float32", "documents", "width", stored="float16")
    indptr: np.ndarray = array("int64", "documents + 1", pointer_into="pairs", stored="deltas")
    indices: np.ndarray = array("int32", "pairs", index_below="labels", stored="deltas")

    @classmethod
    def of(cls, vectors: np.ndarray, Y: csr_array) -> Voters:
        """Of documents [n, D] and their labels [n, L]."""
        labelled = np.diff(Y.indptr) > 0
        return cls(vectors * labelled[:, None], Y.indptr.astype(np.int64), Y.indices.astype(np.int32))

    def labels_of(self, n_labels: int) -> csr_array:
        """Ones [documents, labels]."""
        ones = np.ones(len(self.indices), np.float32)
        return csr_array((ones, self.indices, self.indptr), shape=(len(self.vectors), n_labels))


class Predictor:
    """A trained dual encoder.

    Args:
        voters: None: there are no votes.
    """

    def __init__(
        self,
        encoder: MeanEncoder,
        labels: LabelVectors,
        voters: Voters | None,
        weights: Weights,
        config: VoteConfig,
    ) -> None:
        self.encoder, self.labels, self.voters = encoder, labels, voters
        self.weights, self.config = weights, config

    @cached_property
    def search(self) -> ClusterSearch:
        """Label vectors with the weights of the score."""
        labels, weights = self.labels, self.weights
        return ClusterSearch(weights.cosine * labels.text + weights.label * labels.learned)

    @cached_property
    def documents(self) -> ClusterSearch:
        """The training documents."""
        assert self.voters is not None
        return ClusterSearch(self.voters.vectors)

    @cached_property
    def labels_of(self) -> csr_array:
        """The labels of the training documents."""
        assert self.voters is not None
        return self.voters.labels_of(len(self.labels.text))

    def encode(self, store: FeatureStore, fields: tuple[str, ...]) -> EncodedTexts:
        """The documents of a store."""
        tokens = store.tokens(self.encoder.subwords, fields)
        with torch_threads():
            return EncodedTexts(self, self.encoder(tokens))


class EncodedTexts(EncodedDocuments):
    """Documents as unit vectors [n, D]; one without words is not readable."""

    def __init__(self, predictor: Predictor, vectors: np.ndarray) -> None:
        self.predictor, self.vectors = predictor, vectors
        self.readable = (vectors != 0).any(axis=1)

    @cached_property
    def votes(self) -> Candidates:
        """The labels of near training documents with log(1 + share of the votes / 0.01)."""
        predictor, n = self.predictor, len(self.vectors)
        if predictor.voters is None or not len(predictor.voters.vectors):
            return Candidates.from_counts(np.zeros(n, np.int64), np.empty(0, np.int32), np.empty(0))
        # More neighbours than there are documents would only take memory.
        count = min(predictor.config.neighbours, len(predictor.voters.vectors))
        found = predictor.documents.top(self.vectors, count)
        near = found.where(found.scores > 0).top_k(count)
        there = near.indices >= 0
        cosines = np.where(there, np.minimum(near.scores, np.float32(1)), np.float32(1))
        weights = np.where(there, cosines ** np.float32(predictor.config.power), np.float32(0))
        total = weights.sum(axis=1, keepdims=True)
        weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
        found = votes(near.indices, weights, predictor.labels_of)
        return found.with_scores(np.log1p(found.scores / VOTE))

    def gathered(self, size: int) -> Candidates:
        """The ``size`` labels of highest score but for the votes, and all labels with votes."""
        return self.predictor.search.top(self.vectors, size).union(self.votes)

    def shortlist(self, size: int) -> Candidates:
        """The best labels with their probabilities."""
        found = self.gathered(max(size, FEWEST))
        weights = self.predictor.weights
        return found.with_scores(weights.probability(weights.score(self.parts(found)))).best(size)

    def features(self, candidates: Candidates) -> np.ndarray:
        """``CANDIDATE_FEATURES``: the score, and its parts."""
        parts = self.parts(candidates)
        return np.concatenate([self.predictor.weights.score(parts)[:, None], parts], axis=1)

    def parts(self, candidates: Candidates) -> np.ndarray:
        """``cosine`` to the text, product with the ``label_vector``, and ``votes``."""
        labels = self.predictor.labels
        columns = [
            score(self.vectors, candidates, labels.text).scores,
            score(self.vectors, candidates, labels.learned).scores,
            candidates.scores_in(self.votes, 0.0),
        ]
        return np.stack(columns, axis=1)
