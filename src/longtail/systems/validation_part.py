"""Validation data where the user has none: some training documents are held out, and the user is told."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from longtail.data.hold_out import ENOUGH_TO_HOLD_OUT, hold_out_rows
from longtail.errors import UsageError
from longtail.run import Run
from longtail.systems.base import System
from longtail.types import Dataset


def with_validation_part(
    system: System,
    train: Dataset,
    valid: Dataset | None,
    run: Run,
    *,
    wanted: bool = True,
    note: Callable[[dict[str, np.ndarray]], None] | None = None,
) -> tuple[Dataset, Dataset | None]:
    """Training and validation data: those there are, or the training data without what is held out, and that.

    Args:
        system: what is to be trained. An ensemble that is given what is held out here holds out nothing itself.
        wanted: whether metrics are; otherwise nothing is held out here.
        note: is told the row numbers of both parts, by their names, where some documents are held out.
    """
    if valid is not None and len(valid):
        _check_validation(train, valid, run)
        return train, valid
    if not wanted or not len(train):
        return train, None
    if len(train) < ENOUGH_TO_HOLD_OUT:
        run.say(
            f"no validation data, and fewer than {ENOUGH_TO_HOLD_OUT:,} documents to hold some out: no metrics are "
            "shown"
        )
        return train, None
    kept, held = hold_out_rows(train, system.config.seed)
    if note is not None:
        note({"train": kept, "valid": held})
    rest, held_out = train.take(kept), train.take(held)
    lost = int(((train.label_counts > 0) & (rest.label_counts == 0)).sum())
    pieces = [
        f"no validation data: {len(held_out):,} of {len(train):,} training documents are held out to measure on"
    ]
    if lost:
        pieces.append(f"{lost:,} labels have no other documents")
    if system.capabilities.validation:
        pieces.append("training uses them too (best epoch, re-ranker), so the metrics are slightly too high")
    run.say("; ".join(pieces))
    return rest, held_out


def _check_validation(train: Dataset, valid: Dataset, run: Run) -> None:
    """Refuse or warn of data on which all metrics would be 0."""
    if not valid.Y.nnz:
        raise UsageError(
            "no validation document has a label: leave them out, or name the column of their labels"
        )
    used = (valid.labels.ids[label] for label in np.unique(valid.Y.indices))
    if not any(label in train.labels.index for label in used):
        run.warn("no label of the validation documents is a label of the training documents: metrics are 0")


def in_words(system: System, valid: Dataset) -> str:
    """The validation metrics in one line."""
    metrics = system.facts_.metrics
    values = ", ".join(f"{name} {metric['value']:.2f}" for name, metric in metrics.items())
    return f"metrics on {len(valid):,} validation documents: {values}"
