"""Tiny settings and data of ECLARE's tests, and its prediction computed densely."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from longtail import config as configuration
from longtail.graph.normalise import by_rows
from longtail.run import Run
from longtail.systems.eclare.config import EclareConfig
from longtail.systems.eclare.context import TrainingContext
from longtail.systems.eclare.inputs import Inputs
from longtail.systems.eclare.predict import Encoded, Predictor, Weights
from longtail.systems.eclare.system import Eclare
from longtail.text.feature_store import FeatureStore
from longtail.training.validation import ValidationSet
from longtail.types import Dataset, Documents, DocumentsLike, TopK
from tests.planted import Parts

STAGES = ("embed", "shortlist", "rank")


def settings(epochs: int = 2, lr: float = 0.02, **other: Any) -> dict[str, Any]:
    """Small and quick, with clusters of few labels; all parts of the network are in use."""
    small: dict[str, Any] = {
        "width": 16,
        "text": {"kind": "word"},
        "shortlist": {"exact_below": 0, "clusters": 8, "beam": 4},
        "classifier": {"combine": "attention", "shrinkage": 5.0},
        "negatives": {"source": "shortlist", "hard": 4, "random": 20},
        "embed_on": "labels",
        "calibrate": "none",
        "score": "classifier",
        "stages": {stage: {"epochs": epochs, "lr": lr, "batch_size": 64} for stage in STAGES},
    }
    return configuration.merge(small, other)


def config_of(**other: Any) -> EclareConfig:
    made = configuration.from_dict(EclareConfig, settings(**other))
    assert isinstance(made, EclareConfig)
    return made


def context_of(data: Parts, **other: Any) -> TrainingContext:
    """Everything before the first module."""
    config, run = config_of(**other), Run()
    inputs = Inputs.of(data.train, config, run)
    validation = ValidationSet.of(data.valid, inputs.matrices, config.fields)
    return TrainingContext(config, inputs, validation, 0, run)


def predictor_of(model: Eclare) -> Predictor:
    return model.models_[0]


def changed(predictor: Predictor, **settings: Any) -> Predictor:
    """The same weights with other settings, nested ones as dicts."""
    merged = configuration.merge(configuration.to_dict(predictor.config), settings)
    return Predictor(predictor.weights, configuration.from_dict(EclareConfig, merged))


def encoded(model: Eclare, documents: DocumentsLike) -> Encoded:
    documents = Documents.of(documents)
    return model._encode(documents, FeatureStore(documents))


def same(one: TopK, other: TopK) -> bool:
    return bool(np.array_equal(one.indices, other.indices) and np.array_equal(one.scores, other.scores))


def by_label(answer: TopK, ids: list[str]) -> list[dict[str, float]]:
    """The score of each label in each document's answer."""
    return [
        {ids[label]: float(score) for label, score in zip(labels, scores, strict=True) if label >= 0}
        for labels, scores in zip(answer.indices, answer.scores, strict=True)
    ]


def folder_bytes(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


def with_labels_of_others(data: Dataset) -> Dataset:
    """The same documents with the labels of others."""
    return replace(data, Y=csr_array(data.Y[np.roll(np.arange(len(data)), 7)]))


def small_set(n: int = 12) -> Dataset:
    """Fruits and colours: few documents, labels with texts of their own."""
    colours, fruits = ("red", "green", "blue"), ("apple", "pear", "plum", "fig")
    pairs = [(colours[i % 3], fruits[i % 4]) for i in range(n)]
    return Dataset.from_texts(
        [f"{colour} {fruit}" for colour, fruit in pairs],
        [list(pair) for pair in pairs],
        {word: word for word in (*colours, *fruits)},
    )


def composed_set(n: int = 12, cold: tuple[str, ...] = ()) -> tuple[Dataset, Dataset]:
    """Labels of two words that other labels have too, ``n`` documents each: those of warm and of cold labels."""
    colours = ("red", "green", "blue", "black", "white", "brown", "pink")
    fruits = ("apple", "pear", "plum", "fig", "cherry", "lemon", "grape", "melon")
    labels = [f"{colour} {fruit}" for colour in colours for fruit in fruits]
    rng = np.random.default_rng(0)
    pairs = [(label, " ".join(f"noise{i}" for i in rng.integers(0, 40, 2))) for label in labels * n]

    def part(of_cold: bool) -> Dataset:
        chosen = [pair for pair in pairs if (pair[0] in cold) == of_cold]
        texts = [f"{label} {noise}" for label, noise in chosen]
        return Dataset.from_texts(texts, [[label] for label, _ in chosen], {name: name for name in labels})

    return part(False), part(True)


# --- prediction, densely ------------------------------------------------------------------------------------


def dense_embedding(X: csr_array, tokens: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """Documents [n, V] -> embeddings [n, D] (Sec. 3.1)."""
    x = X.toarray().astype(np.float64) @ tokens
    return np.asarray(np.maximum(x + np.maximum(x, 0) @ residual.T, 0))


def dense_logits(weights: Weights, X: csr_array) -> np.ndarray:
    """<w, x^> + b of every document and label [n, L]."""
    documents = dense_embedding(X, weights.tokens, weights.residual)
    return np.asarray(documents @ weights.classifiers.T + weights.bias)


def dense_clusters(weights: Weights, X: csr_array, beam: int, mix: float) -> np.ndarray:
    """p of Sec. 3.4 for the cluster of every label [n, L], 0 outside the shortlist; a mix of 1 is the paper's."""
    K = len(weights.cluster_classifiers)
    cluster_of = np.empty(len(weights.classifiers), np.int64)
    cluster_of[weights.members] = np.repeat(np.arange(K), np.diff(weights.member_ptr))
    tokens = weights.cluster_tokens if len(weights.cluster_tokens) else weights.tokens
    documents = dense_embedding(X, tokens, weights.cluster_residual)
    p = best(dense_sigmoid(documents @ weights.cluster_classifiers.T + weights.cluster_bias), beam)
    if mix:
        p = best((1 - mix) * p + mix * p @ by_rows(weights.clusters.graph).toarray().T, beam)
    return np.asarray(p[:, cluster_of])


def dense_product(
    weights: Weights, X: csr_array, *, beam: int, mix_clusters: float, mix_labels: float
) -> np.ndarray:
    """s of Sec. 3.5 for every label [n, L], 0 outside the shortlist."""
    p = dense_clusters(weights, X, beam, mix_clusters)
    r = dense_sigmoid(dense_logits(weights, X)) * (p > 0)
    if mix_labels:
        r = (1 - mix_labels) * r + mix_labels * r @ by_rows(weights.graph).toarray().T
    return np.asarray(r * p)


def dense_sigmoid(x: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-x)))


def best(scores: np.ndarray, size: int) -> np.ndarray:
    """The scores with all but each row's ``size`` highest at 0."""
    out = np.zeros_like(scores)
    for row, values in enumerate(scores):
        kept = np.argsort(-values, kind="stable")[:size]
        out[row, kept] = values[kept]
    return out
