"""What an explanation holds: per label words, names, neighbours, documents and members; three ways to show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rich.console import Group


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the text and what it adds to the score; offsets are characters of the text that was given."""

    start: int
    end: int
    word: str
    weight: float


@dataclass(frozen=True, slots=True)
class Name:
    """A name of the label that is in the text."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A label of the graph that contributed."""

    id: str
    text: str
    weight: float


@dataclass(frozen=True, slots=True)
class NearDocument:
    """A training document near the text; models keep no texts of documents, so ``text`` has its labels."""

    id: str
    text: str
    similarity: float


@dataclass(frozen=True, slots=True)
class MemberShare:
    """What a member of an ensemble adds to the score, its own score of the label (0: not proposed) and its rank."""

    name: str
    share: float
    score: float
    rank: int | None


@dataclass(frozen=True, slots=True)
class Context:
    """What else speaks for a label, beside the weights of words."""

    names: list[Name] = field(default_factory=list)
    neighbours: list[Neighbour] = field(default_factory=list)
    documents: list[NearDocument] = field(default_factory=list)

    @classmethod
    def joined(cls, parts: Sequence[Context]) -> Context:
        """That of several members; what several have is there once, as the first one says it."""
        names = dict.fromkeys(name for part in parts for name in part.names)
        neighbours = {n.id: n for part in reversed(parts) for n in part.neighbours}
        documents = {d.id: d for part in reversed(parts) for d in part.documents}
        return cls(
            sorted(names, key=lambda name: (name.start, name.end)),
            sorted(neighbours.values(), key=lambda n: -n.weight),
            sorted(documents.values(), key=lambda d: -d.similarity),
        )


@dataclass(frozen=True, slots=True)
class LabelExplanation:
    """Why one label has its score.

    Attributes:
        score: what ``predict`` says of the label; None if it is not among the answers.
        exact: whether the weights of the words add up to ``value - base``.
        note: what was measured, and what is exact or approximate in it.
        value: the explained quantity, which rises with the score.
        base: the same without the words.
        unit: what the quantity is, in words.
    """

    id: str
    text: str
    exact: bool
    note: str
    value: float
    base: float
    unit: str
    score: float | None = None
    words: list[Word] = field(default_factory=list)
    names: list[Name] = field(default_factory=list)
    neighbours: list[Neighbour] = field(default_factory=list)
    documents: list[NearDocument] = field(default_factory=list)
    members: list[MemberShare] = field(default_factory=list)

    def top_words(self, n: int = 5) -> list[str]:
        """The n different words (in small letters) that raised the score most, over all their places."""
        totals: dict[str, float] = {}
        for word in self.words:
            key = word.word.casefold()
            totals[key] = totals.get(key, 0.0) + word.weight
        ranked = sorted(totals.items(), key=lambda entry: (-entry[1], entry[0]))
        return [word for word, weight in ranked[:n] if weight > 0]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why labels have their scores for one text."""

    text: str
    labels: list[LabelExplanation]

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and dicts, for JSON."""
        return asdict(self)

    def to_terminal(self) -> Group:
        """Highlighted text and tables for rich."""
        from longtail.explain.terminal import shown

        return shown(self)

    def to_html(self) -> str:
        """A page of its own: no script, no other file, everything escaped."""
        from longtail.explain.html import page

        return page(self)

    def _repr_html_(self) -> str:
        from longtail.explain.html import fragment

        return fragment(self)


def words_of(text: str, spans: np.ndarray, weights: np.ndarray, offset: int = 0) -> list[Word]:
    """The words with a weight, in the order of the text.

    Shapes:
        spans int [n, 2] in a part of the text that begins at ``offset``, weights [n]
    """
    totals: dict[tuple[int, int], float] = {}
    for (start, end), weight in zip((spans + offset).tolist(), weights.tolist(), strict=True):
        # A character that stands for several words (as the sign of one half) is one word here.
        totals[start, end] = totals.get((start, end), 0.0) + weight
    return [Word(start, end, text[start:end], weight) for (start, end), weight in totals.items() if weight]
