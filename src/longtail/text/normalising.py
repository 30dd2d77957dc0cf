"""The NFKC form of a text in time and memory that grow with its length, whatever the text is.

``unicodedata`` sorts the combining marks behind a letter by insertion: a run of n marks takes n * n steps. Marks of
a long run are sorted here before, which gives the same form. Two ligatures of Arabic expand to 18 and 8 characters:
a text that consists mostly of them is read without them.
"""

from __future__ import annotations

import re
from functools import cache
from unicodedata import combining, is_normalized, normalize

import numpy as np

FEW_MARKS = 30
"""Marks behind one letter that unicodedata may sort; no writing system needs more (UAX #15, stream-safe text)."""

LIGATURES = {"\ufdfa": 18, "\ufdfb": 8}
"""Characters whose NFKC form is longer than 7 characters, and its length."""

ROOM = 10_000
"""Characters that the ligatures may add to a text in any case; beyond that, as many as the text has."""

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_FIRST_MARK, _LAST_MARK = 0x300, 0x20000
"""All combining marks are between these code points."""


def compatible(text: str) -> str:
    """The NFKC form; only the parts that are not ASCII are worked on, each with the character before it."""
    if is_normalized("NFKC", text):
        return text
    text = without_many_ligatures(text)
    if any(match.end() - match.start() > FEW_MARKS for match in _NOT_ASCII.finditer(text)):
        text = _with_sorted_marks(text)
    pieces, at = [], 0
    for match in _NOT_ASCII.finditer(text):
        # No ASCII character ever combines with what is before it, so a part may end in front of one.
        start = max(match.start() - 1, at)
        pieces += [text[at:start], normalize("NFKC", text[start : match.end()])]
        at = match.end()
    return "".join([*pieces, text[at:]])


def without_many_ligatures(text: str) -> str:
    """The text with spaces for its ligatures, if they would make it much longer; it keeps its length."""
    added = sum(text.count(ligature) * (size - 1) for ligature, size in LIGATURES.items())
    if added <= len(text) + ROOM:
        return text
    return text.translate(dict.fromkeys(map(ord, LIGATURES), " "))


def _with_sorted_marks(text: str) -> str:
    """The same text with the marks of every long run in the order that its NFKC form has."""
    codes = _codes(text)
    is_mark = _classes()[np.minimum(codes, _LAST_MARK - 1)] > 0
    ends = np.flatnonzero(np.append(is_mark, False) != np.append(False, is_mark)).reshape(-1, 2)
    pieces, at = [], 0
    for start, end in ends[ends[:, 1] - ends[:, 0] > FEW_MARKS].tolist():
        pieces += [text[at:start], _sorted(text[start:end])]
        at = end
    return "".join([*pieces, text[at:]])


def _sorted(marks: str) -> str:
    slices = range(0, len(marks), FEW_MARKS)
    codes = _codes("".join(normalize("NFKD", marks[at : at + FEW_MARKS]) for at in slices))
    return codes[np.argsort(_classes()[codes], kind="stable")].tobytes().decode("utf-32-le")


def _codes(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


@cache
def _classes() -> np.ndarray:
    """The canonical combining class of what a character decomposes into first: 0 where that is no mark."""
    classes = np.zeros(_LAST_MARK, np.uint8)
    for code in range(_FIRST_MARK, _LAST_MARK):
        classes[code] = combining(normalize("NFKD", chr(code))[0])
    return classes
