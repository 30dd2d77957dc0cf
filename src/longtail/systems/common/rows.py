"""Training data as sparse rows: documents and labels over the same columns, and who is whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array

from longtail.cluster.label_tree import label_centroids, unit_rows
from longtail.run import Run
from longtail.shortlist.candidates import Candidates
from longtail.text.config import TextConfig
from longtail.text.tfidf import TfidfFeatures
from longtail.types import Dataset, Documents


@dataclass(frozen=True, slots=True)
class Rows:
    """Documents and labels as rows of unit length.

    Attributes:
        features: how texts become rows; None: the rows are the user's own matrix.
        X: documents x columns.
        Y: documents x labels, ones.
        Z: labels x columns; where a label has nothing of its own, the mean of its documents.
        own: the label that is the document itself (same id), or -1.
    """

    features: TfidfFeatures | None
    X: csr_array
    Y: csr_array
    Z: csr_array
    own: np.ndarray

    @classmethod
    def of(cls, train: Dataset, text: TextConfig, fields: tuple[str, ...], run: Run) -> Rows:
        """Learn the vocabulary (or take the user's columns), from training documents and labels alone."""
        Y = csr_array(
            (np.ones(train.Y.nnz, np.float32), train.Y.indices, train.Y.indptr), shape=train.Y.shape
        )
        Y.sum_duplicates()
        Y.data[:] = 1
        features: TfidfFeatures | None = None
        with run.phase("features"):
            if train.documents.features is not None:
                X = unit_rows(train.documents.features.astype(np.float32))
                Z: csr_array = csr_array(coo_array((Y.shape[1], X.shape[1]), dtype=np.float32))
                given = train.labels.features
                if given is not None and given.shape[1] == X.shape[1]:
                    Z = unit_rows(given.astype(np.float32))
            else:
                features = TfidfFeatures(text)
                texts = train.documents.joined(fields)
                features.fit(texts, [text for text in train.labels.texts if text])
                X = features.transform(texts)
                Z = features.transform([text or "" for text in train.labels.texts])
        named = np.diff(Z.indptr) > 0
        if not named.all():
            run.say(
                f"{int((~named).sum())} labels have no text: the words of their documents stand in for it"
            )
            Z = with_centroids(Z, X, Y, ~named)
        return cls(features, X, Y, Z, own_labels(train))


def document_rows(features: TfidfFeatures | None, documents: Documents, fields: tuple[str, ...]) -> csr_array:
    """The rows of further documents, made as those of training were."""
    if features is not None:
        return features.transform(documents.joined(fields))
    return unit_rows(cast(csr_array, documents.features).astype(np.float32))


def own_labels(train: Dataset) -> np.ndarray:
    """Where labels are documents too (related products, say): the label that a document is; -1: none.

    Its text is the document's own, and it is never an answer: learning that it is wrong would teach that alike
    texts do not belong together. A label that some document has as its own answer shows that ids mean something
    else.
    """
    number = {label: i for i, label in enumerate(train.labels.ids)}
    own = np.array([number.get(document, -1) for document in train.documents.ids], np.int64)
    rows = np.flatnonzero(own >= 0)
    if len(rows) and np.asarray(train.Y[rows, own[rows]]).any():
        own[:] = -1
    return own


def with_centroids(Z: csr_array, X: csr_array, Y: csr_array, missing: np.ndarray) -> csr_array:
    """Label texts, with the mean of their documents where ``missing``."""
    if 2 * X.nnz > X.shape[0] * X.shape[1]:
        # Dense rows are no bags of words: without some of its numbers, a mean points elsewhere.
        centroids = label_centroids(X, Y, keep=X.shape[1])
    else:
        centroids = strongest_terms(label_centroids(X, Y), 128)
    keep = diags_array((~missing).astype(np.float32))
    fill = diags_array(missing.astype(np.float32))
    return unit_rows(csr_array(keep @ Z + fill @ centroids))


def strongest_terms(rows: csr_array, keep: int) -> csr_array:
    """Rows cut to their ``keep`` highest values, columns in order."""
    return Candidates.from_csr(csr_array(rows)).best(keep).to_csr(rows.shape[1])
