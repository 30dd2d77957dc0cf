"""What a trained system depends on, so that a training is resumed with nothing else."""

from __future__ import annotations

from typing import Any

from longtail.config import to_dict
from longtail.types import Dataset


def fingerprint(train: Dataset, valid: Dataset | None, config: object) -> dict[str, Any]:
    """All that the result depends on: the system (by its settings' name), its settings and the data."""
    return {
        "system": type(config).__name__,
        "settings": to_dict(config),
        "data": train.fingerprint(),
        "valid": None if valid is None else valid.fingerprint(),
    }
