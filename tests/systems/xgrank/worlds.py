"""Small worlds: the planted data, an encoder that spells it, and settings that make every part work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from longtail.config import from_dict
from longtail.run import Run
from longtail.systems.common.rows import Rows
from longtail.systems.xgrank.config import XgrankConfig
from longtail.systems.xgrank.modules import Course
from longtail.types import Dataset


def settings(place: Path, **more: Any) -> dict[str, Any]:
    """Settings for a fit of a second or two; ``more`` replaces whole groups."""
    return {
        "encoder": {"names": [str(place)], "tokens": 24, "frozen": None},
        "text": {"kind": "word"},
        "clusters": {"size": 4, "beam": 4},
        "labels": {"width": 16},
        "train": {"epochs": 2, "lr": 0.001, "row_lr": 0.02, "batch_size": 32, "watch": "overall"},
        "linear": False,
        **more,
    }


def config(place: Path, **more: Any) -> XgrankConfig:
    return from_dict(XgrankConfig, settings(place, **more))


def course(place: Path, train: Dataset, **more: Any) -> Course:
    chosen, run = config(place, **more), Run()
    return Course(chosen, train, Rows.of(train, chosen.text, chosen.fields, run), run)
