"""Label ids that may be misspelled: they have a text and no document, while a label of documents has no text.

Labels without documents are legitimate, and a cold label may be called almost like a warm one. But a text under a
misspelled id always leaves a warm label without its text. So there is doubt where both are found, and only there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from longtail.data.text_keys import normalised
from longtail.types import Dataset

MOST = 5_000
"""Ids that are compared at most, on either side."""

SHOWN = 3
"""Ids or pairs that a sentence names at most."""

_FEW = 20
"""So many labels with a text for each without one, where most labels have a text."""

_SHORTEST = 4
"""Shorter ids are too often one letter apart."""

_SHORTEST_WORD = 3
"""Fewer letters beside digits are a code."""

_WHOLE_FLOAT = re.compile(r"-?[0-9]+\.0")
_GAPS = re.compile(r"[\s_-]+")


class Pair(NamedTuple):
    """An id that no document has, and the one that is probably meant."""

    id: str
    meant: str
    same: bool
    """Whether they differ in case, spacing, hyphens and underscores only."""


def misspelled(unused: Iterable[str], lacking: Iterable[str]) -> list[Pair]:
    """The ids of ``unused`` that are close to one of ``lacking``.

    Close are ids that differ in case, spacing, hyphens and underscores only, and ids of at least four characters
    that differ by one letter: another, one more, one less, or two that changed places. In an id with digits the
    letter is part of a word of at least three letters: Q12a and Q12b are two codes. Digits number labels: ids that
    differ in these are labels of their own.

    Args:
        unused: ids that no document has (or that have no text).
        lacking: ids that documents have and that have no text (or that have one).
    """
    plain: dict[str, str] = {}
    shortened: dict[str, list[str]] = {}
    for label in islice(lacking, MOST):
        plain.setdefault(_plain(label), label)
    for label in plain:
        for shorter in _shortened(label):
            shortened.setdefault(shorter, []).append(label)
    found = []
    for label in islice(unused, MOST) if plain else ():
        own = _plain(label)
        if own in plain:
            found.append(Pair(label, plain[own], True))
            continue
        others = (other for shorter in _shortened(own) for other in shortened.get(shorter, ()))
        close = next((other for other in others if _one_letter_apart(own, other)), None)
        if close is not None:
            found.append(Pair(label, plain[close], False))
    return found


def misplaced_texts(data: Dataset, *others: Dataset) -> str | None:
    """The sentence for ids that may be misspelled: in the texts of labels, or in documents.

    Args:
        data: has the texts of the labels.
        others: more documents whose labels count, such as those of other parts.
    """
    labels = data.labels
    used = data.label_counts > 0
    for other in others:
        for label in np.unique(other.Y.indices):
            own = labels.index.get(other.labels.ids[label])
            if own is not None:
                used[own] = True
    with_text = np.fromiter(map(bool, labels.texts), bool, len(labels))
    unused = [labels.ids[label] for label in np.flatnonzero(with_text & ~used)]
    lacking = [labels.ids[label] for label in np.flatnonzero(used & ~with_text)]
    if not lacking:
        return None
    if not unused:
        return _strangers(lacking, [labels.ids[label] for label in np.flatnonzero(used & with_text)])
    pairs = misspelled(unused, lacking)
    probably = f" (probably {_listed([f'{pair.id!r} is {pair.meant!r}' for pair in pairs])})" if pairs else ""
    return (
        f"texts are given for labels that no document has: {_named(unused)}, and not for labels that documents "
        f"have: {_named(lacking)}; if an id is misspelled, correct it{probably}"
    )


def _strangers(lacking: list[str], others: list[str]) -> str | None:
    """The sentence for the few labels of documents without a text that are called almost like one with a text."""
    if _FEW * len(lacking) > len(others):
        return None
    pairs = [pair for pair in misspelled(lacking, others) if not pair.same]
    if not pairs:
        return None
    return (
        f"documents have labels without a text: {_named(lacking)}; if an id is misspelled, correct it (probably "
        f"{_listed([f'{pair.id!r} is {pair.meant!r}' for pair in pairs])})"
    )


def label_doubts(ids: Sequence[str]) -> Iterator[str]:
    """What is odd about the ids of all labels: some that are the same but for case and spacing, or 1.0 for 1."""
    first: dict[str, str] = {}
    alike = [
        (first[plain], label) for label in ids if first.setdefault(plain := _plain(label), label) != label
    ]
    if alike:
        shown = _listed([f"{one!r} and {other!r}" for one, other in alike])
        yield f"labels differ in case or spacing only: {shown}; write them alike if they mean the same"
    if ids and all(_WHOLE_FLOAT.fullmatch(label) for label in ids):
        yield (
            f"all labels are numbers like {ids[0]!r}, as pandas writes whole numbers where cells are empty: "
            "predictions will have them so"
        )


def certain(pairs: list[Pair]) -> str:
    """The sentence for ids that are those of documents but for case and spacing."""
    return (
        "label_texts has labels that no document has and that are misspelled: "
        f"{_listed([f'{pair.id!r} (documents have {pair.meant!r})' for pair in pairs])}; write the ids as the "
        "documents do"
    )


def _named(ids: list[str]) -> str:
    return f"{len(ids):,} ({', '.join(map(repr, ids[:SHOWN]))}{', ...' if len(ids) > SHOWN else ''})"


def _listed(pieces: list[str]) -> str:
    more = f" and {len(pieces) - SHOWN:,} more" if len(pieces) > SHOWN else ""
    return f"{', '.join(pieces[:SHOWN])}{more}"


def _plain(label: str) -> str:
    return _GAPS.sub(" ", normalised(label)).strip()


def _shortened(label: str) -> Iterator[str]:
    """The id, and each id that it becomes without one of its characters."""
    if len(label) < _SHORTEST:
        return
    yield label
    for at in range(len(label)):
        yield label[:at] + label[at + 1 :]


def _one_letter_apart(one: str, other: str) -> bool:
    start = next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    changed, into = one[start : len(one) - end], other[start : len(other) - end]
    if not (changed + into).isalpha():
        return False
    if any(map(str.isdigit, one)) and max(_word_at(one, start), _word_at(other, start)) < _SHORTEST_WORD:
        return False
    return max(len(changed), len(into)) == 1 or (len(changed) == len(into) == 2 and changed == into[::-1])


def _word_at(label: str, at: int) -> int:
    """Letters in a row around a position, or that end before it."""
    before = next((n for n, letter in enumerate(reversed(label[:at])) if not letter.isalpha()), at)
    after = next((n for n, letter in enumerate(label[at:]) if not letter.isalpha()), len(label) - at)
    return before + after
