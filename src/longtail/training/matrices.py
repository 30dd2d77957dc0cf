"""Training data as sparse matrices: documents and labels over the same columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array, vstack

from longtail.cluster.label_tree import label_centroids, unit_rows
from longtail.run import Run
from longtail.shortlist.candidates import Candidates
from longtail.text.config import TextConfig
from longtail.text.feature_store import FeatureStore
from longtail.text.tfidf import TfidfFeatures
from longtail.types import Dataset, Documents

MULTIPLIED_AT_ONCE = 1 << 16
"""Rows of a product that are in memory at a time before they are cut to few terms."""


@dataclass(frozen=True, slots=True)
class TrainingMatrices:
    """Documents and labels as rows of unit length.

    Attributes:
        features: how texts become rows; None: the rows are the user's own matrix.
        X: documents x columns.
        Y: documents x labels, ones.
        Z: labels x columns; where a label has nothing of its own, the mean of its documents.
        self_label: the label that is the document itself (same id), or -1.
    """

    features: TfidfFeatures | None
    X: csr_array
    Y: csr_array
    Z: csr_array
    self_label: np.ndarray

    @classmethod
    def of(
        cls,
        train: Dataset,
        text: TextConfig,
        fields: tuple[str, ...],
        run: Run,
        store: FeatureStore | None = None,
    ) -> TrainingMatrices:
        """Learn the vocabulary (or take the user's columns), from training documents and labels alone.

        Args:
            store: features of the training documents that other systems use too.
        """
        Y = positives(train)
        features: TfidfFeatures | None = None
        with run.phase("features"):
            if train.documents.features is not None:
                X = unit_rows(train.documents.features.astype(np.float32))
                Z: csr_array = csr_array(coo_array((Y.shape[1], X.shape[1]), dtype=np.float32))
                given = train.labels.features
                if given is not None and given.shape[1] == X.shape[1]:
                    Z = unit_rows(given.astype(np.float32))
            else:
                store = store or FeatureStore(train.documents, train.Y)
                label_texts = [text or "" for text in train.labels.texts]
                features, X = store.fit_tfidf(text, fields, [text for text in label_texts if text])
                Z = store.memo(("label texts", id(features)), lambda: features.transform(label_texts))
        named = np.diff(Z.indptr) > 0
        if not named.all():
            run.say(
                f"labels without text: {int((~named).sum()):,} (the terms of their documents are used instead)"
            )
            Z = with_centroids(Z, X, Y, ~named)
        return cls(features, X, Y, Z, self_labels(train))


def positives(train: Dataset) -> csr_array:
    """Documents x labels, float32 ones."""
    Y = csr_array((np.ones(train.Y.nnz, np.float32), train.Y.indices, train.Y.indptr), shape=train.Y.shape)
    Y.sum_duplicates()
    Y.data[:] = 1
    return Y


def document_rows(features: TfidfFeatures | None, documents: Documents, fields: tuple[str, ...]) -> csr_array:
    """The rows of further documents, made as those of training were."""
    if features is not None:
        return FeatureStore(documents).tfidf(features, fields)
    return unit_rows(cast(csr_array, documents.features).astype(np.float32))


def self_labels(train: Dataset) -> np.ndarray:
    """Where labels are documents too (related products, say): the label that a document is; -1: none.

    Its text is the document's text and it is never an answer: as a negative it would train the network that equal
    texts do not belong together. If a document has the label of its own id as a positive, ids mean something else.
    """
    number = {label: i for i, label in enumerate(train.labels.ids)}
    found = np.array([number.get(document, -1) for document in train.documents.ids], np.int64)
    rows = np.flatnonzero(found >= 0)
    if len(rows) and np.asarray(train.Y[rows, found[rows]]).any():
        found[:] = -1
    return found


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


def strongest_terms_of_product(left: csr_array, right: csr_array, keep: int) -> csr_array:
    """``strongest_terms(left @ right, keep)``, block by block: the whole product may have many times as many."""
    parts = []
    for start in range(0, max(left.shape[0], 1), MULTIPLIED_AT_ONCE):
        some = left[start : start + MULTIPLIED_AT_ONCE]
        parts.append(strongest_terms(csr_array(some @ right), keep))
    return parts[0] if len(parts) == 1 else csr_array(vstack(parts, format="csr"))
