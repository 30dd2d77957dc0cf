"""Keys of texts that are equal for duplicates and for near-duplicates."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

import numpy as np

from longtail.normalising import compatible

_WORDS = re.compile(r"\w+")


def text_key(text: str) -> bytes:
    """Equal for texts that differ in case, spacing or forms of characters only; empty if the text is."""
    words = " ".join(compatible(text).casefold().split())
    return hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=16).digest() if words else b""


def words_key(text: str) -> bytes:
    """Equal for texts of the same words, whatever their order, number, case, punctuation; empty without words."""
    words = sorted(set(_WORDS.findall(compatible(text).casefold())))
    joined = " ".join(words)
    return hashlib.blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).digest() if words else b""


def duplicate_groups(texts: Iterable[str]) -> np.ndarray:
    """The number of the group of each text (int64 [n]): texts of the same words are one; empty ones are apart."""
    numbers: dict[bytes, int] = {}
    groups: list[int] = []
    empty = 0
    for text in texts:
        key = words_key(text)
        if not key:
            empty += 1
            key = str(empty).encode()
        groups.append(numbers.setdefault(key, len(numbers)))
    return np.array(groups, dtype=np.int64)
