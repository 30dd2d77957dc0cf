"""Where the characters of a prepared text (NFKC, small letters) come from in the text as it was given.

A text is cut at white space, across which nothing combines, and then into letters with their marks. Where the parts
do not give the same as the whole (jamo that become a syllable), the word is one part.
"""

from __future__ import annotations

import re
from unicodedata import combining

import numpy as np

from longtail.normalising import without_many_ligatures
from longtail.text.codepoints import prepared

_RUNS = re.compile(r"\s+|\S+")


def origins(text: str, *, lowercase: bool, nfkc: bool) -> np.ndarray:
    """For each character of the prepared text, where its origin begins and ends: int64 [characters, 2]."""
    if text.isascii():
        return _each(0, len(text))
    whole = prepared(text, lowercase, nfkc)
    if nfkc:
        text = without_many_ligatures(text)
    parts = [np.zeros((0, 2), np.int64)]
    for run in _RUNS.finditer(text):
        parts += _of_run(run.group(), run.start(), lowercase, nfkc)
    found = np.concatenate(parts)
    if len(found) == len(whole):
        return found
    return np.tile(np.array([[0, len(text)]], np.int64), (len(whole), 1))


def _of_run(run: str, start: int, lowercase: bool, nfkc: bool) -> list[np.ndarray]:
    if run.isascii():
        return [_each(start, start + len(run))]
    ends = [*(at for at, character in enumerate(run) if at and not combining(character)), len(run)]
    clusters = list(zip([0, *ends[:-1]], ends, strict=True))
    forms = [prepared(run[a:b], lowercase, nfkc) for a, b in clusters]
    whole = prepared(run, lowercase, nfkc)
    # A sigma has another small letter at the end of a word: the lengths say enough.
    if sum(map(len, forms)) != len(whole) or "".join(forms).upper() != whole.upper():
        clusters, forms = [(0, len(run))], [whole]
    return [
        np.tile(np.array([[start + a, start + b]], np.int64), (len(form), 1))
        for (a, b), form in zip(clusters, forms, strict=True)
    ]


def _each(start: int, stop: int) -> np.ndarray:
    places = np.arange(start, stop, dtype=np.int64)
    return np.stack([places, places + 1], axis=1)
