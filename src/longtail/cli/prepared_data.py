"""Training from a prepared folder: its parts, and which options do not go with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longtail.errors import UsageError

if TYPE_CHECKING:
    from longtail.data import ReadOptions
    from longtail.systems.base import System
    from longtail.types import Dataset


def read_prepared(
    folder: str,
    system: System,
    vocabulary: str | None,
    format_: str | None,
    reading: ReadOptions,
    max_memory: int | None,
    *,
    hold_out: bool,
) -> tuple[dict[str, Dataset], dict[str, Any]]:
    """The parts train and valid, and what the model keeps of how they were read."""
    from longtail.data.options import DEFAULTS
    from longtail.prepared.folder import open_prepared

    if vocabulary is not None or format_ is not None or reading != DEFAULTS:
        raise UsageError(
            f"{folder} was read when it was prepared: give --labels, --format and options of columns to longtail "
            "prepare"
        )
    if max_memory is not None:
        raise UsageError(
            "estimates are for data in memory, so --max-memory cannot be used with prepared data: leave it out"
        )
    found = open_prepared(folder)
    if found.held_out is not None and not hold_out:
        raise UsageError(
            f"{folder} was prepared with validation documents held out: prepare it with --no-hold-out"
        )
    if found.held_out is not None and found.held_out != system.config.seed:
        raise UsageError(
            f"{folder} was prepared with seed {found.held_out}, by which validation documents were held out, not "
            f"{system.config.seed}: train with that seed, or prepare the data again"
        )
    return found.parts, found.reading
