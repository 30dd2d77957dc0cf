"""Settings of the ensemble."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from longtail.config import at_least_one, at_least_zero, shares
from longtail.errors import ConfigError
from longtail.systems.base import SystemConfig


@dataclass(frozen=True, kw_only=True, slots=True)
class RerankerConfig:
    """How the scores of the members are combined (stacking)."""

    balance: float = 0.55
    """Weight of rare labels in the loss: 0 every positive counts alike, 1 by its inverse propensity."""
    trees: int = 100
    """Boosted trees on top of a linear model; 0: none. With fewer than 500 validation documents there are none."""
    hierarchy: bool = True
    """Where labels have parents, the ranks of a candidate's parents, children and siblings are features."""
    documents: int = 10_000
    """Validation documents that it is fitted on at most."""
    subsets: bool = True
    """Also fit re-rankers for smaller sets of members, so that slow members can be dropped in prediction."""

    def __post_init__(self) -> None:
        shares(self, "balance")
        at_least_zero(self, "trees")
        at_least_one(self, "documents")


@dataclass(frozen=True, kw_only=True, slots=True)
class EnsembleConfig(SystemConfig):
    """Settings of the ensemble; those of a member stand below its name, as in eclare.stages.rank.epochs=3."""

    renamed: ClassVar[Mapping[str, str]] = {
        "reranker.hidden": "boosted trees have taken the place of hidden units, 'reranker.trees' is their number"
    }

    members: tuple[str, ...] = ("linear", "lexical", "eclare")
    """Systems that are combined, by name."""
    candidates: int = 50
    """Best labels of each member that are re-ranked."""
    reranker: RerankerConfig = field(default_factory=RerankerConfig)
    """How the scores of the members are combined."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings of the members, a table per member."""

    def __post_init__(self) -> None:
        SystemConfig.__post_init__(self)
        at_least_one(self, "candidates")
        if not self.members:
            raise ConfigError("an ensemble needs at least one member: set members=linear,lexical,eclare, say")
        twice = next((name for name in self.members if self.members.count(name) > 1), None)
        if twice is not None:
            raise ConfigError(f"the member '{twice}' is named twice")
        other = next((name for name in self.settings if name not in self.members), None)
        if other is not None:
            raise ConfigError(
                f"there are settings of '{other}', which is no member: members are {', '.join(self.members)}"
            )
        object.__setattr__(self, "settings", _as_saved(self.settings))


def _as_saved(value: Any) -> Any:
    """The value as it is in a saved model: tables sorted by key, lists, plain numbers."""
    if isinstance(value, Mapping):
        return {key: _as_saved(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [_as_saved(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value
