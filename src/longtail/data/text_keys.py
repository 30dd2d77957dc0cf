"""Keys of texts: equal for texts that differ in case, spacing or forms of characters only."""

from __future__ import annotations

import hashlib
import unicodedata


def text_key(text: str) -> bytes:
    """The key of a text; empty if the text is."""
    words = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=16).digest() if words else b""
