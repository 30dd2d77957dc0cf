"""Documents that a data set has several times: in one part, or in two, where they make metrics too high."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from longtail.data.near_duplicates import near_duplicate_groups
from longtail.data.parts import Part
from longtail.data.text_keys import text_key

EXAMPLES = 5
"""Places that a finding names at most."""


@dataclass(frozen=True, slots=True)
class Finding:
    """How often something occurs, and the first few places."""

    count: int = 0
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PartDuplicates:
    """What occurs again in one part: ids, texts, and texts that are nearly the same as an earlier one."""

    ids: Finding
    texts: Finding
    near: Finding


@dataclass(frozen=True, slots=True)
class Duplicates:
    """The duplicates of every part, and those of each pair of parts ("train and test") that has some."""

    parts: Mapping[str, PartDuplicates]
    shared: Mapping[str, Finding]
    nearly_shared: Mapping[str, Finding]

    def warnings(self) -> Iterator[str]:
        """What they are worth knowing for, and what to do."""
        advice = "remove them unless they should count several times"
        if len(self.parts) == 1:
            advice += "; longtail split keeps them in one part"
        for part, found in self.parts.items():
            if found.texts.count or found.near.count:
                yield (
                    f"{part}: {_many(found.texts.count, 'has', 'have')} the text of an earlier one, "
                    f"{found.near.count:,} nearly: {advice}"
                )
        for pair in dict.fromkeys((*self.shared, *self.nearly_shared)):
            same, near = (found.get(pair, Finding()).count for found in (self.shared, self.nearly_shared))
            yield (
                f"{_many(same, 'is', 'are')} in both {pair}, {near:,} nearly, so metrics will be too high: "
                "remove them from one part, or divide the data anew with longtail split"
            )


def find_duplicates(parts: Mapping[str, Part]) -> Duplicates:
    """Compare all documents with each other."""
    joined = {name: part.data.documents.joined() for name, part in parts.items()}
    keys = {name: [text_key(text) for text in texts] for name, texts in joined.items()}
    every = near_duplicate_groups([text for texts in joined.values() for text in texts])
    ends = np.cumsum([len(texts) for texts in joined.values()])
    groups = dict(zip(joined, np.split(every, ends[:-1]), strict=True)) if joined else {}
    shared: dict[str, Finding] = {}
    nearly: dict[str, Finding] = {}
    for first, second in combinations(parts, 2):
        pair = f"{first} and {second}"
        same, rows = _shared(parts[first], parts[second], keys[first], keys[second])
        near = _nearly_shared(parts[first], parts[second], groups[first], groups[second], rows)
        shared |= {pair: same} if same.count else {}
        nearly |= {pair: near} if near.count else {}
    found = {name: _of_part(part, keys[name], groups[name]) for name, part in parts.items()}
    return Duplicates(found, shared, nearly)


def _of_part(part: Part, keys: list[bytes], groups: np.ndarray) -> PartDuplicates:
    ids = part.data.documents.ids
    same_ids = [] if part.numbered else _again(ids)
    same_texts = _again(keys)
    _, first, at = np.unique(groups, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[at] != np.arange(len(groups)))
    equal = {row for row, _ in same_texts}
    near = [(int(row), int(first[at[row]])) for row in again if int(row) not in equal]
    return PartDuplicates(*(_finding(part, rows) for rows in (same_ids, same_texts, near)))


def _again(keys: Sequence[str | bytes]) -> list[tuple[int, int]]:
    """Rows whose key (an id, a text) was there before, with that row; empty keys do not count."""
    first: dict[str | bytes, int] = {}
    return [(row, first[key]) for row, key in enumerate(keys) if key and first.setdefault(key, row) != row]


def _finding(part: Part, again: Sequence[tuple[int, int]]) -> Finding:
    ids = part.data.documents.ids
    examples = tuple(
        f"{ids[row]!r} in line {part.lines[row]}, first in line {part.lines[before]}"
        for row, before in again[:EXAMPLES]
    )
    return Finding(len(again), examples)


def _shared(
    first: Part, second: Part, first_keys: list[bytes], second_keys: list[bytes]
) -> tuple[Finding, set[int]]:
    """Documents of the second part that are in the first (the same id, or the same text), and their rows."""
    own_ids = first.path == second.path or not (first.numbered or second.numbered)
    row_of_id = {id_: row for row, id_ in enumerate(first.data.documents.ids)} if own_ids else {}
    row_of_text = {key: row for row, key in enumerate(first_keys) if key}
    rows: set[int] = set()
    examples: list[str] = []
    for row, (id_, key) in enumerate(zip(second.data.documents.ids, second_keys, strict=True)):
        kind, before = "id", row_of_id.get(id_)
        if before is None:
            kind, before = "text", row_of_text.get(key)
        if before is not None:
            rows.add(row)
            if len(examples) < EXAMPLES:
                examples.append(f"same {kind}: {_places(first, second, before, row)}")
    return Finding(len(rows), tuple(examples)), rows


def _nearly_shared(
    first: Part, second: Part, first_groups: np.ndarray, second_groups: np.ndarray, known: set[int]
) -> Finding:
    """Documents of the second part that have a near-duplicate in the first, besides those that are known."""
    groups, rows = np.unique(first_groups, return_index=True)
    found = [int(row) for row in np.flatnonzero(np.isin(second_groups, groups)) if int(row) not in known]
    some = found[:EXAMPLES]
    before = rows[np.searchsorted(groups, second_groups[some])].tolist()
    examples = (
        f"similar texts: {_places(first, second, other, row)}"
        for row, other in zip(some, before, strict=True)
    )
    return Finding(len(found), tuple(examples))


def _places(first: Part, second: Part, first_row: int, second_row: int) -> str:
    here = f"{second.path.name}, line {second.lines[second_row]}"
    return f"{here} and {first.path.name}, line {first.lines[first_row]}"


def _many(count: int, one: str, many: str) -> str:
    return f"{count:,} document{'' if count == 1 else 's'} {one if count == 1 else many}"
