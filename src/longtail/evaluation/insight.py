"""Diagnostics of a model: a few numbers per group, ready to be drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from longtail.errors import DataError, UsageError


@dataclass(frozen=True, slots=True)
class Insight:
    """One plot of a model: every series has a value for each group."""

    title: str
    caption: str
    """What the values are and how to read them, in a sentence or two."""
    x: list[str]
    """Names of the groups."""
    series: dict[str, list[float]]
    """Name -> one finite value per group."""

    def __post_init__(self) -> None:
        # Numpy's numbers and arrays are welcome, and leave as what JSON knows.
        plain = {name: [float(value) for value in values] for name, values in self.series.items()}
        object.__setattr__(self, "x", [str(group) for group in self.x])
        object.__setattr__(self, "series", plain)
        for name, values in plain.items():
            if len(values) != len(self.x):
                raise UsageError(
                    f"the insight {self.title!r} has {len(self.x)} groups, but {len(values)} values of {name!r}"
                )
            if not all(math.isfinite(value) for value in values):
                raise UsageError(f"the insight {self.title!r} has a value of {name!r} that is not finite")

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """An insight from what JSON made of it."""
        match data:
            case {"title": str(title), "caption": str(caption), "x": list(x), "series": Mapping() as series}:
                try:
                    return cls(title, caption, x, dict(series))
                except (TypeError, ValueError, UsageError) as error:
                    raise DataError(f"an insight of the report is damaged: {error}") from None
        raise DataError("an insight of the report lacks title, caption, x or series")
