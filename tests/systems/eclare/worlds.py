"""Tiny settings and data of ECLARE's tests, and a training taken apart into its steps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from longtail import config as configuration
from longtail.run import Run
from longtail.systems.common.holding_out import held_documents
from longtail.systems.eclare.config import EclareConfig
from longtail.systems.eclare.folded import Folded
from longtail.systems.eclare.inputs import Inputs
from longtail.systems.eclare.modules import Course
from longtail.systems.eclare.system import Eclare
from longtail.types import Dataset, TopK
from tests.planted import Parts

STAGES = ("embed", "shortlist", "rank")


def settings(epochs: int = 2, lr: float = 0.02, **other: Any) -> dict[str, Any]:
    """Small and quick, with clusters of few labels and whatever else brings all parts into use."""
    small: dict[str, Any] = {
        "width": 16,
        "text": {"kind": "word"},
        "shortlist": {"exact_below": 0, "clusters": 8, "beam": 4, "lexical": 3},
        "classifier": {"combine": "attention", "shrink": 5.0},
        "negatives": {"source": "shortlist", "hard": 4, "random": 20},
        "embed_on": "labels",
        "score": "learnt",
        "linear": False,
        "stages": {stage: {"epochs": epochs, "lr": lr, "batch_size": 64} for stage in STAGES},
    }
    return configuration.merge(small, other)


def config_of(**other: Any) -> EclareConfig:
    made = configuration.from_dict(EclareConfig, settings(**other))
    assert isinstance(made, EclareConfig)
    return made


def course_of(data: Parts, **other: Any) -> Course:
    """Everything before the first module."""
    config, run = config_of(**other), Run()
    inputs = Inputs.of(data.train, config, run)
    return Course(config, inputs, held_documents(data.valid, inputs.rows, config.fields, None), 0, run)


def member_of(model: Eclare) -> Folded:
    return model.members_[0]


def without_fusion(member: Folded, **changes: Any) -> Folded:
    """The same weights with the paper's product."""
    weights = member.weights
    empty = replace(weights, fusion_weights=weights.fusion_weights[:0], fusion_start=weights.fusion_start[:0])
    known = {
        "lexical": member.lexical,
        "beam": member.shortlister.beam if member.shortlister else 1,
        "mix_clusters": member.mix_clusters,
        "mix_labels": member.mix_labels,
    }
    return Folded(empty, member.texts, **{**known, **changes})


def same(one: TopK, other: TopK) -> bool:
    return bool(np.array_equal(one.labels, other.labels) and np.array_equal(one.scores, other.scores))


def by_label(answer: TopK, ids: list[str]) -> list[dict[str, float]]:
    """What each document's answer says of each label."""
    return [
        {ids[label]: float(score) for label, score in zip(labels, scores, strict=True) if label >= 0}
        for labels, scores in zip(answer.labels, answer.scores, strict=True)
    ]


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
