"""Settings for planted data and an encoder that spells it."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def settings(place: Path, **more: Any) -> dict[str, Any]:
    """Settings for a fit of a second or two; ``more`` replaces whole groups."""
    return {
        "encoder": {
            "name": str(place),
            "tokens": 24,
            "temperature": 0.1,
            "train": {"epochs": 15, "lr": 0.01, "batch_size": 16, "clip_norm": None},
        },
        "labels": {"hard": 3, "random": 20, "train": {"epochs": 4, "lr": 0.01, "batch_size": 32}},
        **more,
    }
