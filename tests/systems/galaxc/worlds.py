"""Tiny settings and data of GalaXC's tests, and a training taken apart into its steps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from longtail import config as configuration
from longtail.run import Run
from longtail.shortlist.candidates import Candidates
from longtail.systems.galaxc import train as steps
from longtail.systems.galaxc.config import GalaxcConfig
from longtail.systems.galaxc.initial import Initial, TokenEmbeddings
from longtail.systems.galaxc.neighbourhoods import Neighbourhoods
from longtail.systems.galaxc.node_index import NodeIndex
from longtail.systems.galaxc.predict import GraphDocuments, Queries
from longtail.systems.galaxc.system import Galaxc
from longtail.text.feature_store import FeatureStore
from longtail.training.matrices import TrainingMatrices
from longtail.types import Dataset, Documents, TopK


def settings(epochs: int = 2, lr: float = 0.02, **other: Any) -> dict[str, Any]:
    """Small and quick, with all modules in use."""
    stage = {"epochs": epochs, "lr": lr, "batch_size": 64}
    small: dict[str, Any] = {
        "width": 16,
        "text": {"kind": "word"},
        "initial": {"source": "surrogate", "clusters": 8, "surrogate": stage, "embed": stage, "rank": stage},
        "graph": {"fanouts": (4, 3, 2)},
        "negatives": {"hard": 3, "random": 20},
        "shortlist": {"voters": 4},
        "stages": {"joint": stage, "refine": stage},
    }
    return configuration.merge(small, other)


def config_of(**other: Any) -> GalaxcConfig:
    made = configuration.from_dict(GalaxcConfig, settings(**other))
    assert isinstance(made, GalaxcConfig)
    return made


@dataclass
class Setup:
    """All that there is before the first module."""

    context: steps.TrainingContext
    initial: Initial
    documents: np.ndarray
    nodes: NodeIndex
    neighbourhoods: Neighbourhoods
    parameters: steps.Parameters


def setup_of(train: Dataset, tokens: np.ndarray | None = None, **other: Any) -> Setup:
    """A training that is about to begin; token embeddings are random ones unless they are given."""
    config, run = config_of(**other), Run()
    matrices = TrainingMatrices.of(train, config.text, config.fields, run)
    context = steps.TrainingContext(config, train, matrices, FeatureStore(train.documents), run)
    if tokens is None:
        tokens = np.random.default_rng(7).standard_normal((matrices.X.shape[1], 16)).astype(np.float32)
    initial = Initial(TokenEmbeddings(tokens))
    documents = initial(matrices.X, train.documents.joined())
    labels = initial(matrices.Z, steps.label_texts_of(train))
    nodes = NodeIndex.of(train, matrices.Y, matrices.self_label, documents, labels, config.graph, run)
    neighbourhoods = steps.neighbourhoods_of(context, nodes, documents)
    parameters = steps.new_parameters(context, documents.shape[1])
    return Setup(context, initial, documents, nodes, neighbourhoods, parameters)


def queries_of(model: Galaxc, documents: Any, **more: Any) -> Queries:
    """What a prediction starts from."""
    documents = Documents.of(documents)
    queries = model._queries(documents, FeatureStore(documents), None, None)
    return Queries(**{name: more.get(name, getattr(queries, name)) for name in Queries.__slots__})


def encoded_of(model: Galaxc, documents: Any, **more: Any) -> GraphDocuments:
    """Documents as the model sees them."""
    return GraphDocuments(model.predictor_, queries_of(model, documents, **more))


def vectors_of(model: Galaxc, documents: Any) -> np.ndarray:
    """Initial embeddings."""
    return queries_of(model, documents).vectors


def every_label(n: int, n_labels: int) -> Candidates:
    """All labels as candidates of n documents."""
    return Candidates.from_padded(
        np.tile(np.arange(n_labels, dtype=np.int32), (n, 1)), np.zeros((n, n_labels), np.float32)
    )


def p_at_1(model: Galaxc, test: Dataset) -> float:
    return float(model.evaluate(test).metrics["P@1"]["value"])


def same(one: TopK, other: TopK) -> bool:
    return bool(np.array_equal(one.indices, other.indices) and np.array_equal(one.scores, other.scores))


def folder_bytes(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


def small_set(n: int = 12) -> Dataset:
    """Fruits and colours: few documents, labels with texts of their own."""
    colours, fruits = ("red", "green", "blue"), ("apple", "pear", "plum", "fig")
    pairs = [(colours[i % 3], fruits[i % 4]) for i in range(n)]
    return Dataset.from_texts(
        [f"{colour} {fruit}" for colour, fruit in pairs],
        [list(pair) for pair in pairs],
        {word: word for word in (*colours, *fruits)},
    )
