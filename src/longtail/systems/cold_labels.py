"""What training says of labels without training documents, whatever the system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from longtail.run import Run
    from longtail.systems.base import System

SHOWN = 3
"""Ids that the sentence names at most."""


def tell(system: System, run: Run) -> None:
    """Name the first of them: those that the trained system never predicts, in a warning."""
    cold = np.flatnonzero(system.label_counts_ == 0)
    if not len(cold) or not system.facts_.documents:
        return
    labels = system.labels_
    known = np.array([bool(labels.texts[label]) for label in cold]) | (labels.features is not None)
    known &= system.predicts_cold_labels
    if known.any():
        run.say(
            f"labels without training documents, known by their texts only: {_named(system, cold[known])}"
        )
    if not known.all():
        never = _named(system, cold[~known])
        run.warn(f"labels without training documents, which are never predicted: {never}")


def _named(system: System, labels: np.ndarray) -> str:
    ids = ", ".join(repr(system.labels_.ids[label]) for label in labels[:SHOWN])
    return f"{len(labels):,} ({ids}{', ...' if len(labels) > SHOWN else ''})"
