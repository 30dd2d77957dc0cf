"""Keys of texts that are equal for duplicates."""

from __future__ import annotations

import hashlib

from longtail.normalising import compatible


def normalised(text: str) -> str:
    """The text in one case and one form of its characters, in time that grows with its length."""
    return text.lower() if text.isascii() else compatible(text).casefold()


def text_key(text: str) -> bytes:
    """Equal for texts that differ in case, spacing or forms of characters only; empty if the text is."""
    words = " ".join(normalised(text).split())
    return hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=16).digest() if words else b""
