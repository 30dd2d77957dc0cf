"""Texts without regard to case, spacing and forms of characters, and keys that are equal for such texts."""

from __future__ import annotations

import hashlib
import re
from unicodedata import normalize

_LONG_RUN = re.compile(r"[^\x00-\x7f]{64}")
_PIECE = 64
"""Characters that are normalised at once in long runs: combining marks are sorted in quadratic time."""


def normalised(text: str) -> str:
    """The text in one case and one form of its characters, in time that grows with its length."""
    if text.isascii():
        return text.lower()
    if _LONG_RUN.search(text) is None:
        return normalize("NFKC", text).casefold()
    pieces = (text[at : at + _PIECE] for at in range(0, len(text), _PIECE))
    return "".join([normalize("NFKC", piece) for piece in pieces]).casefold()


def text_key(text: str) -> bytes:
    """Equal for texts that differ in case, spacing or forms of characters only; empty if the text is."""
    words = " ".join(normalised(text).split())
    return hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=16).digest() if words else b""
