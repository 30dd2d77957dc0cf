"""Label ids that are probably misspelled: no document has them, and they are close to one that documents have.

Labels without documents are legitimate, and a cold label may be called almost like a warm one. So an id is in doubt
only if the warm label has no text: then the text of a misspelled id is the one that it lacks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from longtail.data.parts import Parts
from longtail.data.text_keys import normalised

MOST = 20_000
"""Ids that are compared at most, on either side."""

SHOWN = 3
"""Pairs that a sentence names at most."""

_SHORTEST = 4
"""Shorter ids are too often one letter apart."""

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
    without digits that differ by one letter: another, one more, one less, or two that changed places.

    Args:
        unused: ids that no document has.
        lacking: ids that documents have and that have no text.
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


def misspelled_labels(found: Parts) -> str | None:
    """The sentence for ids in the file of labels that were probably meant to be those of documents."""
    if not found.listed:
        return None
    counts = sum((part.data.label_counts for part in found.parts.values()), np.zeros(len(found.labels), int))
    ids = found.labels.ids
    pairs = misspelled(
        (ids[label] for label in np.flatnonzero(counts[: found.listed] == 0)),
        ids[found.listed :],
    )
    return sentence(pairs, str(found.labels_path or "the file of labels")) if pairs else None


def label_doubts(ids: Sequence[str]) -> Iterator[str]:
    """What is odd about the ids of all labels: some that are the same but for case and spacing, or 1.0 for 1."""
    first: dict[str, str] = {}
    alike = [
        (first[plain], label) for label in ids if first.setdefault(plain := _plain(label), label) != label
    ]
    if alike:
        shown = ", ".join(f"{one!r} and {other!r}" for one, other in alike[:SHOWN])
        more = f" and {len(alike) - SHOWN:,} more" if len(alike) > SHOWN else ""
        yield f"labels differ in case or spacing only: {shown}{more}; write them alike if they mean the same"
    if ids and all(_WHOLE_FLOAT.fullmatch(label) for label in ids):
        yield (
            f"all labels are numbers like {ids[0]!r}, as pandas writes whole numbers where cells are empty: "
            "predictions will have them so"
        )


def sentence(pairs: list[Pair], where: str) -> str:
    """What is in doubt, for people; ``where`` is what has the ids."""
    shown = ", ".join(f"{pair.id!r} (documents have {pair.meant!r})" for pair in pairs[:SHOWN])
    more = f" and {len(pairs) - SHOWN:,} more" if len(pairs) > SHOWN else ""
    return (
        f"{where} has labels that no document has and that are probably misspelled: {shown}{more}; "
        "write the ids as the documents do"
    )


def _plain(label: str) -> str:
    return _GAPS.sub(" ", normalised(label)).strip()


def _shortened(label: str) -> Iterator[str]:
    """The id, and each id that it becomes without one of its characters."""
    if len(label) < _SHORTEST or any(map(str.isdigit, label)):
        return
    yield label
    for at in range(len(label)):
        yield label[:at] + label[at + 1 :]


def _one_letter_apart(one: str, other: str) -> bool:
    start = next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    one, other = one[start:], other[start:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    if not (one + other).isalpha():
        return False
    return max(len(one), len(other)) == 1 or (len(one) == len(other) == 2 and one == other[::-1])
