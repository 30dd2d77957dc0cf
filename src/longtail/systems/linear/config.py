"""Settings of the linear label tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from longtail.config import at_least_one, shares
from longtail.errors import ConfigError
from longtail.solvers.classifiers import SolverConfig
from longtail.systems.base import SystemConfig
from longtail.text.config import TextConfig


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeConfig:
    """The shape of the label tree."""

    leaf_size: int = 200
    """Labels per leaf cluster: about so many on average, or at most so many if balanced."""
    arity: int = 512
    """Children per inner node at most: wide trees are shallow and make fewer mistakes."""
    balanced: bool = False
    """Whether clusters have equal sizes (recursive halves) or those that k-means finds, which is more accurate."""
    trees: int | Literal["auto"] = "auto"
    """Trees with different random seeds whose scores are averaged; auto: two if documents are short, else one."""

    def __post_init__(self) -> None:
        if not 1 <= self.leaf_size <= 32768:
            raise ConfigError(f"'leaf_size' must be from 1 to 32768, not {self.leaf_size}")
        if not 2 <= self.arity <= 32768:
            raise ConfigError(f"'arity' must be from 2 to 32768, not {self.arity}")
        if self.trees != "auto":
            at_least_one(self, "trees")


@dataclass(frozen=True, kw_only=True, slots=True)
class GameConfig:
    """How scores are passed between labels that co-occur in the training documents (GAME of ECLARE)."""

    mix: float = 0.0
    """The share of a score that comes from correlated labels: 0 is the tree alone, 1 is ECLARE's GAME."""
    candidates: int = 50
    """The tree's best labels per document that pass on their scores."""
    length: int = 400
    """Steps of the random walk that starts at a label and finds the labels it co-occurs with."""
    restart: float = 0.8
    """Probability that a step of the walk goes back to its first label."""
    keep: int = 10
    """Correlated labels per label at most."""
    head_above: int = 500
    """Labels of more documents than this neither pass on nor receive scores."""

    def __post_init__(self) -> None:
        shares(self, "mix", "restart")
        at_least_one(self, "candidates", "length", "keep", "head_above")


@dataclass(frozen=True, kw_only=True, slots=True)
class LinearConfig(SystemConfig):
    """Settings of the linear label tree."""

    renamed: ClassVar[Mapping[str, str]] = {"tree.members": "tree.trees"}
    highlights: ClassVar[tuple[str, ...]] = (
        "fields",
        "text.ngrams",
        "text.char_ngrams",
        "text.max_features",
        "text.stem",
        "tree.leaf_size",
        "tree.trees",
        "tree.balanced",
        "solver.loss",
        "solver.cost",
        "solver.prune",
        "beam",
        "label_text",
        "game.mix",
    )

    text: TextConfig = field(
        default_factory=lambda: TextConfig(
            ngrams=(1, 2), char_ngrams="auto", title_share="auto", sublinear_tf=True, max_features=500_000
        )
    )
    """How texts become features."""
    normalise: bool = True
    """Scale the rows of a feature matrix that the user brings to length one."""
    label_text: Literal["none", "example"] = "none"
    """example: the text of each label is a training document of that label, so that rare labels are trained on
    their names and labels without documents can be predicted."""
    tree: TreeConfig = field(default_factory=TreeConfig)
    """The shape of the tree."""
    solver: SolverConfig = field(default_factory=SolverConfig)
    """How the classifiers are trained; with the logistic loss, scores are probabilities."""
    beam: int = 5
    """Nodes per level that the search follows."""
    game: GameConfig = field(default_factory=GameConfig)
    """How scores are passed between labels that co-occur."""

    def __post_init__(self) -> None:
        SystemConfig.__post_init__(self)
        at_least_one(self, "beam")

    @property
    def link(self) -> str:
        """How a raw score of a classifier becomes a (pseudo-)probability."""
        return "logistic" if self.solver.loss == "logistic" else "cubed_hinge"
