"""Which settings are searched, and between which values.

``SPACES`` has the settings of each system whose best value depends on the data; the default lies within each range.
A user replaces them by ``--search`` expressions: ``beam=5..50`` is a range, ``tree.trees=1,2,4`` a choice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longtail.config import parse_overrides
from longtail.errors import ConfigError

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

WIDE = 10
"""A range whose ends differ by this factor is searched on a logarithmic scale."""

_RANGE = re.compile(r"(?P<low>[^.,]+(?:\.\d+)?)\.\.(?P<high>[^,]+)")


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from ``low`` to ``high``; whole ones if both ends are."""

    low: float
    high: float

    @property
    def whole(self) -> bool:
        """Whether the values are integers."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    @property
    def log(self) -> bool:
        """Whether the scale is logarithmic."""
        return self.low > 0 and self.high >= WIDE * self.low

    def distribution(self) -> BaseDistribution:
        """The same for optuna."""
        from optuna.distributions import FloatDistribution, IntDistribution

        if self.whole:
            return IntDistribution(int(self.low), int(self.high), log=self.log)
        return FloatDistribution(self.low, self.high, log=self.log)

    def holds(self, value: Any) -> bool:
        """Whether a value is within."""
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return number and self.low <= value <= self.high and (not self.whole or isinstance(value, int))

    def encoded(self, value: Any) -> Any:
        """A value as the study stores it."""
        return value

    def decoded(self, value: Any) -> Any:
        """A stored value as the setting takes it; few digits, as nobody reads more."""
        return int(value) if self.whole else float(f"{value:.4g}")


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some values."""

    values: tuple[Any, ...]

    def distribution(self) -> BaseDistribution:
        """The same for optuna, which stores plain values only: each is its JSON."""
        from optuna.distributions import CategoricalDistribution

        return CategoricalDistribution([self.encoded(value) for value in self.values])

    def holds(self, value: Any) -> bool:
        """Whether a value is one of them."""
        return self.encoded(value) in map(self.encoded, self.values)

    def encoded(self, value: Any) -> Any:
        """A value as the study stores it."""
        return json.dumps(value)

    def decoded(self, value: Any) -> Any:
        """A stored value as the setting takes it."""
        return json.loads(value)


Dimension = Range | Choice
Dimensions = dict[str, Dimension]

SPACES: Mapping[str, Mapping[str, Dimension]] = {
    "linear": {
        "tree.leaf_size": Range(50, 400),
        "tree.trees": Choice(("auto", 1, 2, 3)),
        "solver.cost": Choice(("auto", 0.5, 1.0, 2.0, 4.0)),
        "label_text": Choice(("none", "example")),
        "beam": Range(5, 40),
    },
    "lexical": {"text.kind": Choice(("wordpiece", "word")), "text.sublinear_tf": Choice((True, False))},
    "knn": {"neighbours": Range(5, 100), "power": Range(0.0, 4.0)},
    "eclare": {
        "dropout": Range(0.0, 0.5),
        "classifier.combine": Choice(("sum", "attention")),
        "classifier.shrinkage": Range(1.0, 20.0),
        "graph.keep": Range(5, 30),
        "negatives.random": Choice((500, 1000, 2000)),
        "stages.rank.epochs": Range(1, 8),
        "stages.rank.lr": Range(0.001, 0.02),
    },
    "galaxc": {
        "transform.dropout": Range(0.1, 0.6),
        "classifier.shrinkage": Range(1.0, 20.0),
        "neighbourhood.near": Range(0.5, 1.0),
        "stages.joint.epochs": Range(1, 8),
        "stages.joint.lr": Range(0.001, 0.02),
    },
    "gnnxml": {
        "network.dropout": Range(0.0, 0.6),
        "ranker.beam": Range(5, 40),
        "ranker.cluster_weight": Range(0.2, 1.0),
        "match.epochs": Range(4, 16),
        "match.lr": Range(0.001, 0.02),
    },
    "xgrank": {
        "labels.shrinkage": Range(1.0, 20.0),
        "rank_share": Range(0.3, 0.7),
        "train.epochs": Range(2, 8),
        "train.lr": Range(2e-5, 4e-4),
        "train.row_lr": Range(0.001, 0.02),
    },
    "gudn": {
        "encoder.feature_dropout": Range(0.1, 0.6),
        "train.epochs": Range(1, 6),
        "train.lr": Range(2e-5, 4e-4),
        "train.row_lr": Range(0.001, 0.05),
    },
    "dual": {
        "labels.shrinkage": Range(0.5, 10.0),
        "labels.train.lr": Range(0.0005, 0.01),
        "votes.neighbours": Range(5, 50),
        "votes.power": Range(0.0, 4.0),
    },
    "ensemble": {
        "candidates": Range(20, 100),
        "reranker.balance": Range(0.0, 1.0),
        "reranker.trees": Choice((0, 50, 100, 200)),
    },
}


def space_of(system: str, members: Sequence[str] = ()) -> Dimensions:
    """The settings of a system that are searched; those of an ensemble and of all its members below their names."""
    if system not in SPACES and system != "ensemble":
        raise ConfigError(
            f"it is not known which settings of '{system}' are worth a search: name some, as in "
            "--search dropout=0.0..0.5"
        )
    found: Dimensions = dict(SPACES[system])
    for member in members:
        found |= {f"{member}.{key}": dimension for key, dimension in SPACES.get(member, {}).items()}
    return found


def parsed(expressions: Iterable[str]) -> Dimensions:
    """The space of ``--search`` expressions: key=low..high, or key=value,value,..."""
    found: Dimensions = {}
    for expression in expressions:
        key, equals, text = (part.strip() for part in expression.partition("="))
        if not equals or not key or not text:
            raise ConfigError(f"'{expression}' is neither of the form key=low..high nor key=value,value")
        ends = _RANGE.fullmatch(text)
        found[key] = _range(expression, ends["low"], ends["high"]) if ends else _choice(expression, text)
    return found


def _range(expression: str, low: str, high: str) -> Range:
    numbers = [_value(end) for end in (low, high)]
    if (
        not all(isinstance(n, (int, float)) and not isinstance(n, bool) for n in numbers)
        or not numbers[0] < numbers[1]
    ):
        raise ConfigError(f"'{expression}': a range goes from a number to a higher one, as in beam=5..50")
    return Range(*numbers) if all(isinstance(n, int) for n in numbers) else Range(*map(float, numbers))


def _choice(expression: str, text: str) -> Choice:
    values = tuple(_value(part) for part in text.split(","))
    if len(set(map(repr, values))) < max(2, len(values)):
        raise ConfigError(f"'{expression}': a choice has at least two different values, as in tree.trees=1,2")
    return Choice(values)


def _value(text: str) -> Any:
    return parse_overrides([f"value={text.strip()}"])["value"]


def nested(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by dotted name as nested tables."""
    out: dict[str, Any] = {}
    for key, value in changes.items():
        *tables, last = key.split(".")
        at = out
        for table in tables:
            at = at.setdefault(table, {})
        at[last] = value
    return out


def at(settings: Mapping[str, Any], key: str) -> Any:
    """The value of a dotted name in nested tables; raises KeyError if there is none."""
    value: Any = settings
    for part in key.split("."):
        if not isinstance(value, Mapping):
            raise KeyError(part)
        value = value[part]
    return value
