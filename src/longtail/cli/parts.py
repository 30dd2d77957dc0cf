"""Choosing the part of a data set that a command works on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from longtail.errors import UsageError

if TYPE_CHECKING:
    from longtail.types import Dataset


def choose(parts: Mapping[str, Dataset], wanted: str, source: str) -> Dataset:
    """The part ``wanted``; a data set that is one file only is that part, whatever it is called."""
    if wanted in parts:
        return parts[wanted]
    if len(parts) == 1:
        return next(iter(parts.values()))
    raise UsageError(f"{source} has no part '{wanted}', only {', '.join(parts) or 'nothing'}")
