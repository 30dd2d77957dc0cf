"""What ECLARE learns from: bags of tokens, the label graph, and label texts that the graph has smoothed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array

from longtail.cluster.label_tree import label_centroids, unit_rows
from longtail.graph.label_graph import heads, label_graph
from longtail.run import Run
from longtail.shortlist.candidates import Candidates
from longtail.systems.eclare.config import ClassifierConfig, EclareConfig
from longtail.text.tfidf import TfidfFeatures
from longtail.types import Dataset


@dataclass(frozen=True, slots=True)
class Inputs:
    """Training data as sparse matrices.

    Attributes:
        X: documents x tokens, rows of unit length.
        Y: documents x labels, ones.
        Z: labels x tokens, rows of unit length (zeros where a label has no text).
        G: labels x labels, the graph.
        heads: which labels are cut out of the graph.
        own: the label that is the document itself (same id), or -1.
    """

    features: TfidfFeatures
    X: csr_array
    Y: csr_array
    Z: csr_array
    G: csr_array
    heads: np.ndarray
    own: np.ndarray

    @classmethod
    def of(cls, train: Dataset, config: EclareConfig, run: Run) -> Inputs:
        """Learn the vocabulary and build the graph, from training rows alone."""
        with run.phase("features"):
            features = TfidfFeatures(config.text)
            texts = train.documents.joined(config.fields)
            features.fit(texts, [text for text in train.labels.texts if text])
            X = features.transform(texts)
            Y = csr_array(
                (np.ones(train.Y.nnz, np.float32), train.Y.indices, train.Y.indptr), shape=train.Y.shape
            )
            Y.sum_duplicates()
            Y.data[:] = 1
            Z = features.transform([text or "" for text in train.labels.texts])
            named = np.diff(Z.indptr) > 0
        if not named.all():
            missing = int((~named).sum())
            run.say(f"{missing} labels have no text: the words of their documents stand in for it")
            Z = with_centroids(Z, X, Y, ~named)
        with run.phase("graph"):
            graph = config.graph
            G = label_graph(
                Y,
                kind=graph.kind,
                normalisation=graph.normalisation,
                head_above=graph.head_above,
                length=graph.length,
                restart=graph.restart,
                keep=graph.keep,
                seed=config.seed,
            )
        return cls(features, X, Y, Z, G, heads(Y, graph.head_above), own_labels(train))


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
    centroids = strongest_terms(label_centroids(X, Y), 128)
    keep = diags_array((~missing).astype(np.float32))
    fill = diags_array(missing.astype(np.float32))
    return unit_rows(csr_array(keep @ Z + fill @ centroids))


def smoothed_texts(Z: csr_array, G: csr_array, config: ClassifierConfig) -> tuple[csr_array, ...]:
    """The texts that a classifier is made of: its own (LTE), then G^k Z for each order k (GALE)."""
    texts = [strongest_terms(Z, config.max_terms)] if config.lte else []
    if config.gale != "none":
        smooth = Z
        for _ in range(config.order):
            smooth = strongest_terms(csr_array(G @ smooth), config.max_terms)
            texts.append(smooth)
    return tuple(texts)


def starting_texts(Z: csr_array, G: csr_array, config: ClassifierConfig) -> csr_array | None:
    """The texts that refinement vectors start as (Module III): G Z (the paper's) or Z; None: zeros."""
    if config.initialise == "zero":
        return None
    return strongest_terms(csr_array(G @ Z) if config.initialise == "graph" else Z, config.max_terms)


def strongest_terms(rows: csr_array, keep: int) -> csr_array:
    """Rows cut to their ``keep`` highest values, columns in order."""
    return Candidates.from_csr(csr_array(rows)).best(keep).to_csr(rows.shape[1])
