"""A claim of a paper as data: two sides that are trained and compared, and what the paper reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from longtail import config, systems

EXAMPLES = Path(__file__).parents[2] / "examples"
CONFIGURATIONS = ("paper", "longtail")
"""The settings of the paper, and the defaults of longtail."""

AS_HERE = {
    "xgrank": ('encoder.names=["minilm"]', "encoder.tokens=64", "train.epochs=8"),
    "gudn": (
        "encoder.name=minilm",
        "encoder.layers=5",
        "encoder.tokens=64",
        "guide.tokens=64",
        "train.epochs=8",
    ),
    "gnnxml": ("documents.encoder=minilm",),
}
"""What differs from a paper's settings: MiniLM in place of BERT, whose weights are not at hand; fewer epochs."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Documents that a claim is tested on, drawn anew for every seed; labels are those that the documents have."""

    data: str
    fields: tuple[str, ...]
    train: int
    valid: int
    test: int

    def __str__(self) -> str:
        by = "titles" if self.fields == ("title",) else "texts"
        return f"{self.data} {by}, {self.train:,} training and {self.test:,} test documents"


TITLES = Sample("debian", ("title",), 3000, 500, 2000)
TEXTS = Sample("eurlex-4.3k", ("title", "text"), 2000, 500, 1000)


@dataclass(frozen=True, slots=True)
class Side:
    """A system with settings beside those of the configuration, and the metric that is read."""

    system: str
    settings: tuple[str, ...] = ()
    metric: str = "P@1"
    warm_start: bool = False
    """Half of the labels of test documents are revealed."""

    def resolved(self, configuration: str) -> dict[str, Any]:
        """All settings; a system without a paper has its defaults in both configurations."""
        given: Mapping[str, Any] = {}
        file = EXAMPLES / f"{self.system}-paper.toml"
        if configuration == "paper" and file.is_file():
            own = {key: value for key, value in config.read_toml(file).items() if key != "system"}
            given = config.merge(own, config.parse_overrides(AS_HERE.get(self.system, ())))
        given = config.merge(given, config.parse_overrides(self.settings))
        return config.to_dict(config.from_dict(systems.get(self.system).Config, given))


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The first side is claimed to have the better metric."""

    id: str
    source: str
    sentence: str
    paper: str
    """The figures of the paper, and on which data."""
    first: Side
    second: Side
    lower_is_better: bool = False
    sample: Sample = TITLES
    note: str = ""
    """What the test here differs in, or why the result is as it is."""

    def sides(self) -> Iterator[Side]:
        """Both."""
        yield self.first
        yield self.second


class Sides(TypedDict):
    """Both sides of a claim, by the names of its fields."""

    first: Side
    second: Side


def against(
    system: str,
    first: tuple[str, ...],
    second: tuple[str, ...],
    metric: str = "P@1",
) -> Sides:
    """Two variants of a system, for a claim."""
    return {"first": Side(system, first, metric), "second": Side(system, second, metric)}
