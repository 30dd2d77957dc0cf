"""Index the training documents by their rows; there is nothing else to train."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from longtail.blocks.text_encoder import TextEncoder
from longtail.errors import UsageError
from longtail.run import Run
from longtail.systems.knn.config import KnnConfig
from longtail.systems.knn.neighbours import (
    AnnNeighbours,
    Neighbours,
    TermNeighbours,
    VectorNeighbours,
    labelled,
)
from longtail.systems.knn.predict import Representation, TrainingDocuments
from longtail.text.feature_store import FeatureStore
from longtail.types import Dataset


def train(
    data: Dataset, config: KnnConfig, run: Run, store: FeatureStore
) -> tuple[Representation, TrainingDocuments]:
    """How documents become rows, and the index of those of training."""
    with run.phase("features"):
        representation = represent(data, config, store)
        rows = representation.rows(store, config.fields)
    unlabelled = int((np.diff(data.Y.indptr) == 0).sum())
    if unlabelled:
        run.say(f"documents without labels, which are never neighbours: {unlabelled:,}")
    with run.phase("index"):
        neighbours = build(labelled(rows, data.Y), config, run)
    return representation, TrainingDocuments(data.documents.ids, data.Y, neighbours)


def represent(data: Dataset, config: KnnConfig, store: FeatureStore) -> Representation:
    """Learn the vocabulary, or read the encoder, or take the user's own columns."""
    given = data.documents.features
    if config.vectors == "encoder":
        if given is not None:
            raise UsageError("a feature matrix has no text for the encoder: set vectors = 'tfidf'")
        encoder = TextEncoder.of(config.encoder, keep=config.keep)
        return Representation(None, encoder, encoder.folder.width)
    if given is not None:
        return Representation(None, None, given.shape[1])
    # As the neural systems do it: those with equal settings share one vocabulary in an ensemble.
    texts = [text for text in data.labels.texts if text]
    features, X = store.fit_tfidf(config.text, config.fields, texts)
    return Representation(features, None, X.shape[1])


def build(rows: Any, config: KnnConfig, run: Run) -> Neighbours:
    """The index of sparse rows or dense vectors."""
    if isinstance(rows, csr_array):
        return TermNeighbours.of(rows, config.exact_below)
    if config.search == "ann":
        return AnnNeighbours.of(rows, config.ef_search, run)
    return VectorNeighbours.of(rows)
