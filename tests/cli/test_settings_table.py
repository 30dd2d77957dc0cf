from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from longtail.cli.settings_table import Setting, field_docs, highlights_of, settings_of


@dataclass(frozen=True)
class Tree:
    leaf: int = 100
    """Labels in
    a leaf."""
    bare: float = 0.5


@dataclass(frozen=True)
class Base:
    seed: int = 0
    """Where chance begins."""
    names: tuple[str, ...] = ("a", "b")
    """Some names."""


@dataclass(frozen=True)
class Config(Base):
    """A class, not a field."""

    tree: Tree = field(default_factory=Tree)
    """The tree."""
    seed: int = 7


def test_settings_have_dotted_names_defaults_and_docs() -> None:
    assert settings_of(Config) == [
        Setting("seed", 7, "Where chance begins."),
        Setting("names", ["a", "b"], "Some names."),
        Setting("tree.leaf", 100, "Labels in a leaf."),
        Setting("tree.bare", 0.5, ""),
    ]


def test_highlights_come_in_their_own_order() -> None:
    assert highlights_of(Config) == settings_of(Config), "none are named: all"

    class Chosen(Config):
        highlights: ClassVar[tuple[str, ...]] = ("tree.leaf", "seed")

    assert [setting.name for setting in highlights_of(Chosen)] == ["tree.leaf", "seed"]


def test_docs_of_the_fields() -> None:
    assert field_docs(Tree) == {"leaf": "Labels in a leaf."}
