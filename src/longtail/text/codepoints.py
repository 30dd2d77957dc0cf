"""Texts as one array of Unicode code points, the form that the kernels read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from longtail.errors import UsageError
from longtail.text.normalising import compatible
from longtail.threads import jobs

CHUNK_CHARACTERS = 1 << 20
"""Documents are worked on in chunks of about this many characters, each in a thread, so that memory does not
grow with them; larger ones are slower, as the allocator then asks the system for fresh pages each time."""


@dataclass(frozen=True, slots=True)
class CodePoints:
    """Document ``d`` is ``codes[offsets[d]:offsets[d + 1]]``."""

    codes: np.ndarray
    offsets: np.ndarray


def chunks(texts: Sequence[str], characters: int = CHUNK_CHARACTERS) -> Iterator[slice]:
    """Consecutive slices of the texts with about ``characters`` characters each, at least one text in each."""
    try:
        ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    except TypeError as error:
        raise UsageError(f"the texts must be strings: {error}") from None
    start = 0
    while start < len(texts):
        budget = characters + (ends[start - 1] if start else 0)
        stop = max(int(np.searchsorted(ends, budget, side="right")), start + 1)
        yield slice(start, stop)
        start = stop


def waves(texts: Sequence[str]) -> Iterator[list[slice]]:
    """The chunks, as many at a time as there is work for all threads."""
    parts = chunks(texts)
    while wave := list(islice(parts, 2 * jobs())):
        yield wave


def encode(texts: Sequence[str], *, lowercase: bool = False, nfkc: bool = False) -> CodePoints:
    """The code points of all texts, one after the other; lone surrogates pass through."""
    # A text at a time: ASCII texts take a fast way that one foreign letter would close for all.
    texts = [prepared(text, lowercase, nfkc) for text in texts]
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=offsets[1:])
    return CodePoints(_codes("".join(texts)), offsets)


def encode_one(text: str, *, lowercase: bool = False, nfkc: bool = False) -> np.ndarray:
    """The code points of one text, the same as ``encode`` gives."""
    return _codes(prepared(text, lowercase, nfkc))


def prepared(text: str, lowercase: bool, nfkc: bool) -> str:
    """The text as words are looked for in it."""
    if not isinstance(text, str):
        raise UsageError(f"the texts must be strings, not {type(text).__name__}")
    if nfkc and not text.isascii():
        text = compatible(text)
    return text.lower() if lowercase else text


def _codes(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
