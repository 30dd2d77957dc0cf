"""Training data of ECLARE: bags of tokens, the label graph, and label texts convolved with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from longtail.data.label_parents import label_parents
from longtail.graph.label_graph import heads, label_graph
from longtail.run import Run
from longtail.systems.eclare.config import ClassifierConfig, EclareConfig
from longtail.text.feature_store import FeatureStore
from longtail.text.tfidf import TfidfFeatures
from longtail.training.matrices import TrainingMatrices, strongest_terms, strongest_terms_of_product
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
        self_label: the label that is the document itself (same id), or -1.
    """

    features: TfidfFeatures | None
    X: csr_array
    Y: csr_array
    Z: csr_array
    G: csr_array
    heads: np.ndarray
    self_label: np.ndarray

    @property
    def matrices(self) -> TrainingMatrices:
        """The data without the graph."""
        return TrainingMatrices(self.features, self.X, self.Y, self.Z, self.self_label)

    @classmethod
    def of(cls, train: Dataset, config: EclareConfig, run: Run, store: FeatureStore | None = None) -> Inputs:
        """Learn the vocabulary and build the graph, from training documents alone."""
        rows = TrainingMatrices.of(train, config.text, config.fields, run, store)
        with run.phase("graph"):
            graph = config.graph
            G = label_graph(
                rows.Y,
                kind=graph.kind,
                normalisation=graph.normalisation,
                head_above=graph.head_above,
                length=graph.length,
                restart=graph.restart,
                keep=graph.keep,
                seed=config.seed,
                links=label_parents(train.labels),
                link_weight=graph.parents,
            )
        return cls(rows.features, rows.X, rows.Y, rows.Z, G, heads(rows.Y, graph.head_above), rows.self_label)


def convolved_texts(Z: csr_array, G: csr_array, config: ClassifierConfig) -> tuple[csr_array, ...]:
    """The texts of a classifier: the label text (LTE), then G^k Z for each order k (GALE)."""
    texts = [strongest_terms(Z, config.max_terms)] if config.lte else []
    if config.gale != "none":
        smooth = Z
        for _ in range(config.order):
            smooth = strongest_terms_of_product(G, smooth, config.max_terms)
            texts.append(smooth)
    return tuple(texts)


def initial_texts(Z: csr_array, G: csr_array, config: ClassifierConfig) -> csr_array | None:
    """The texts that refinement vectors are initialised with (Module III): G Z (paper) or Z; None: zeros."""
    if config.initialise == "zero":
        return None
    if config.initialise == "graph":
        return strongest_terms_of_product(G, Z, config.max_terms)
    return strongest_terms(Z, config.max_terms)
