"""Tiny settings and data of GalaXC's tests, and a training taken apart into its steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from longtail import config as configuration
from longtail.run import Run
from longtail.systems.common.rows import Rows
from longtail.systems.galaxc import modules
from longtail.systems.galaxc.config import GalaxcConfig
from longtail.systems.galaxc.folded import Queries
from longtail.systems.galaxc.initial import Initial
from longtail.systems.galaxc.neighbourhoods import Neighbourhoods
from longtail.systems.galaxc.space import Space
from longtail.systems.galaxc.system import Galaxc
from longtail.types import Dataset, TopK


def settings(epochs: int = 2, lr: float = 0.02, **other: Any) -> dict[str, Any]:
    """Small and quick, with all modules in use."""
    stage = {"epochs": epochs, "lr": lr, "batch_size": 64}
    small: dict[str, Any] = {
        "width": 16,
        "text": {"kind": "word"},
        "initial": {"source": "surrogate", "clusters": 8, "surrogate": stage, "embed": stage, "rank": stage},
        "graph": {"fanouts": (4, 3, 2)},
        "negatives": {"hard": 3, "random": 20},
        "shortlist": {"lexical": 3, "voters": 4},
        "score": "learnt",
        "linear": False,
        "stages": {"joint": stage, "refine": stage},
    }
    return configuration.merge(small, other)


def config_of(**other: Any) -> GalaxcConfig:
    made = configuration.from_dict(GalaxcConfig, settings(**other))
    assert isinstance(made, GalaxcConfig)
    return made


@dataclass
class Workshop:
    """All that there is before the first module."""

    course: modules.Course
    initial: Initial
    documents: np.ndarray
    space: Space
    around: Neighbourhoods
    learnt: modules.Learnt


def workshop_of(train: Dataset, tokens: np.ndarray | None = None, **other: Any) -> Workshop:
    """A training that is about to begin; token embeddings are random ones unless they are given."""
    config, run = config_of(**other), Run()
    rows = Rows.of(train, config.text, config.fields, run)
    course = modules.Course(config, train, rows, run)
    if tokens is None:
        tokens = np.random.default_rng(7).standard_normal((rows.X.shape[1], 16)).astype(np.float32)
    initial = Initial(tokens)
    documents = initial(rows.X, train.documents.joined())
    labels = initial(rows.Z, modules.label_texts_of(train))
    space = Space.of(train, rows.Y, rows.own, documents, labels, config.graph, run)
    around = modules.neighbourhoods(course, space, documents)
    return Workshop(course, initial, documents, space, around, modules.untrained(course, documents.shape[1]))


def queries_of(model: Galaxc, documents: Any, **more: Any) -> Queries:
    """What prediction looks at."""
    from longtail.types import Documents

    return replace(model._queries(Documents.of(documents), None, None), **more)


def p_at_1(model: Galaxc, test: Dataset) -> float:
    return float(model.evaluate(test).figures["P@1"]["value"])


def same(one: TopK, other: TopK) -> bool:
    return bool(np.array_equal(one.labels, other.labels) and np.array_equal(one.scores, other.scores))


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
