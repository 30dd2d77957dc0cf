"""Data sets that can be had on any machine: ``sample`` and ``synthetic`` everywhere, the others on Debian."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from longtail.errors import UsageError
from longtail.types import Dataset

NAMES = ("sample", "synthetic", "debian", "wordnet")


def build(name: str, **options: Any) -> dict[str, Dataset]:
    """Build the data set ``name`` as its parts train, valid and test over one label set."""
    if name not in NAMES:
        raise UsageError(f"there is no data set {name!r} in the catalogue: choose one of {', '.join(NAMES)}")
    maker: Callable[..., dict[str, Dataset]] = getattr(
        importlib.import_module(f"longtail.data.catalogue.{name}"), name
    )
    known = list(inspect.signature(maker).parameters)
    unknown = next((option for option in options if option not in known), None)
    if unknown is not None:
        raise UsageError(f"the data set {name} has no option '{unknown}'; its options are {', '.join(known)}")
    return maker(**options)
