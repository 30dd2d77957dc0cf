"""Scores of the nearest-neighbour classifier: the labels of near training documents, weighted by their cosines.

For the k nearest training documents d_1 ... d_k of a document x, with w_i = cos(x, d_i)^power:
score(x, l) = sum of w_i over those d_i that have the label l / sum of all w_i.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from longtail.blocks.text_encoder import TextEncoder
from longtail.cluster.label_tree import unit_rows
from longtail.errors import UsageError
from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.shortlist.candidates import Candidates
from longtail.shortlist.votes import first_votes, votes
from longtail.storage.schema import ArraySet, array
from longtail.systems.knn.neighbours import Found, Neighbours, labelled
from longtail.text.feature_store import FeatureStore
from longtail.text.tfidf import TfidfFeatures

SAME = 0.999
"""From this cosine on, a training document of the same id is the document itself."""
LOG_SHIFT = np.float32(0.01)
"""The feature ``votes`` is log(score + this)."""


@dataclass(frozen=True, slots=True, eq=False)
class Assignments(ArraySet):
    """The labels of the training documents."""

    indptr: np.ndarray = array("int64", "documents + 1", pointer_into="pairs", stored="deltas")
    indices: np.ndarray = array("int32", "pairs", index_below="labels", stored="deltas")

    @classmethod
    def of(cls, Y: csr_array) -> Assignments:
        """Those of a matrix [documents, labels]."""
        return cls(Y.indptr.astype(np.int64), Y.indices.astype(np.int32))

    def matrix(self, n_labels: int) -> csr_array:
        """Ones [documents, labels]."""
        ones = np.ones(len(self.indices), np.float32)
        return csr_array((ones, self.indices, self.indptr), shape=(len(self.indptr) - 1, n_labels))


@dataclass(frozen=True, slots=True)
class Representation:
    """How documents become rows: by a vocabulary or an encoder; with neither, users bring their own rows.

    Attributes:
        width: columns of the rows.
    """

    features: TfidfFeatures | None
    encoder: TextEncoder | None
    width: int

    def rows(self, store: FeatureStore, fields: tuple[str, ...]) -> Any:
        """Sparse rows of length one, or dense vectors; zeros where a document has nothing to compare."""
        if self.encoder is not None:
            return encoder_vectors(self.encoder, store, fields)
        if self.features is not None:
            return store.tfidf(self.features, fields)
        assert store.documents.features is not None
        return unit_rows(store.documents.features.astype(np.float32))


def encoder_vectors(encoder: TextEncoder, store: FeatureStore, fields: tuple[str, ...]) -> np.ndarray:
    """The vectors of documents, zeros where there is no text: float32 [n, D]."""

    def encode() -> np.ndarray:
        texts = store.texts(fields)
        blank = np.array([not text.strip() for text in texts])
        vectors = encoder(texts)
        vectors[blank] = 0
        return vectors

    return store.memo(("encoder", str(encoder.folder.folder), encoder.longest, fields), encode)


class TrainingDocuments:
    """The documents that answers come from: ids, labels, and an index of their rows. Never changed.

    The first ``trained`` ones are those of training; the others came later.
    """

    def __init__(
        self, ids: list[str], Y: csr_array, neighbours: Neighbours, trained: int | None = None
    ) -> None:
        self.ids, self.neighbours = ids, neighbours
        self.trained = len(ids) if trained is None else trained
        self.Y = Assignments.of(Y).matrix(Y.shape[1])

    @cached_property
    def _names(self) -> np.ndarray | None:
        """The ids, where they identify documents. Numbers may be those of rows, which say nothing."""
        if all(id_.isdecimal() for id_ in self.ids):
            return None
        return np.array(self.ids, dtype=object)

    def nearest(self, queries: Any, ids: Sequence[str], k: int) -> Found:
        """The k nearest documents of each query, without the query itself (the same id and the same row)."""
        # More neighbours than documents change nothing, and the settings of a model may ask for any number.
        k = min(k, max(len(self.ids), 1))
        if self._names is None:
            return self.neighbours.search(queries, k)
        rows, cosines = self.neighbours.search(queries, k + 1)
        asked = np.array(ids, dtype=object)[:, None]
        itself = (rows >= 0) & (cosines >= SAME) & (self._names[rows] == asked)
        rows = np.where(itself, -1, rows)
        # The others move up.
        order = np.argsort(itself, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(rows, order, axis=1), np.take_along_axis(cosines, order, axis=1)

    def added(self, ids: list[str], Y: csr_array, rows: Any) -> TrainingDocuments:
        """The same with more documents, whose labels may be more."""
        times = Counter(ids)
        times.update(set(self.ids).intersection(ids))
        twice = next((id_ for id_ in ids if times[id_] > 1), None)
        if twice is not None:
            raise UsageError(
                f"the model has a document {twice!r} already: remove it first, or give the new one another id"
            )
        wide = csr_array((self.Y.data, self.Y.indices, self.Y.indptr), shape=(len(self.ids), Y.shape[1]))
        joined = csr_array(vstack([wide, Y], format="csr"))
        neighbours = self.neighbours.added(labelled(rows, Y))
        return TrainingDocuments([*self.ids, *ids], joined, neighbours, self.trained)

    def without(self, ids: Sequence[str]) -> tuple[TrainingDocuments, csr_array]:
        """The same without these documents, and the labels that those had."""
        wanted = set(ids)
        gone = np.array([id_ in wanted for id_ in self.ids], bool)
        missing = wanted.difference(self.ids)
        if missing:
            unknown = next(id_ for id_ in ids if id_ in missing)
            raise UsageError(f"the model has no document {unknown!r}")
        if gone.all():
            raise UsageError("a model needs at least one document: these are all it has")
        kept = np.flatnonzero(~gone)
        names = [self.ids[row] for row in kept]
        trained = int(np.count_nonzero(kept < self.trained))
        return TrainingDocuments(names, self.Y[kept], self.neighbours.kept(kept), trained), self.Y[gone]


class KnnDocuments(EncodedDocuments):
    """Documents with their nearest training documents.

    Args:
        found: row numbers and cosines [n, k] of the neighbours.
        training: the training documents.
    """

    def __init__(self, found: Found, training: TrainingDocuments, power: float, readable: np.ndarray) -> None:
        rows, cosines = found
        Y = training.Y
        self.training = training
        near = (rows >= 0) & (cosines > 0)
        self.Y, self.readable = Y, readable
        self.rows, self.cosines = np.where(near, rows, -1), np.where(near, cosines, np.float32(0))
        weights = np.where(near, np.where(near, cosines, np.float32(1)) ** np.float32(power), np.float32(0))
        total = weights.sum(axis=1, keepdims=True)
        self.weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)

    @cached_property
    def _votes(self) -> Candidates:
        found = votes(self.rows, self.weights, self.Y)
        return found.with_scores(np.minimum(found.scores, np.float32(1)))

    @cached_property
    def _nearest(self) -> Candidates:
        return first_votes(self.rows, self.cosines, self.Y)

    def later(self) -> Candidates | None:
        """The labels of neighbours that came after training, with the cosine of the nearest."""
        trained = self.training.trained
        if trained == len(self.training.ids):
            return None
        return first_votes(np.where(self.rows < trained, -1, self.rows), self.cosines, self.Y)

    def shortlist(self, size: int) -> Candidates:
        """The labels of the neighbours."""
        return self._votes.best(size)

    def features(self, candidates: Candidates) -> np.ndarray:
        """``votes``, the log of the score, and ``nearest``, the cosine of the nearest neighbour with the label."""
        scores = candidates.scores_in(self._votes, 0.0)
        return np.stack([np.log(scores + LOG_SHIFT), candidates.scores_in(self._nearest, 0.0)], axis=1)
