"""Groups of texts that are duplicates or nearly so, in time that grows with their length.

The similarity of two texts is the share of their words and pairs of adjacent words that both have (Jaccard). It is
estimated by MinHash (Broder, On the resemblance and containment of documents, 1997): the share of hash functions
that have the same minimum on both. Only texts that agree in all hashes of a band are compared. The hash functions
are fixed, so that the same texts always make the same groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from longtail import threads
from longtail.data.text_keys import normalised
from longtail.types import Documents

SIMILAR = 0.8
"""Texts of at least this similarity are near-duplicates: of 20 words, about one is another."""

_BANDS, _WIDTH = 20, 6
"""A pair of similarity 0.8 agrees in one of 20 bands of 6 hashes with a probability of 0.998."""

_HASHES = _BANDS * _WIDTH
_CHARACTERS = 1 << 20
"""Characters of the texts that are sketched at once."""

_WITHOUT_SPACES = ((0x0E00, 0x0F00), (0x1000, 0x10A0), (0x1780, 0x1800), (0x3040, 0x3100), (0x3400, 0xA000))
"""Thai and Lao, Burmese, Khmer, kana, ideographs: each character counts as a word."""


def document_groups(documents: Documents, similar: float = SIMILAR) -> np.ndarray:
    """The group of each document by its whole text; documents without text are groups by themselves."""
    return near_duplicate_groups(documents.joined(), similar)


def shared_with_first(parts: Sequence[Documents]) -> list[int]:
    """How many documents of each part but the first have a near-duplicate in the first."""
    groups = near_duplicate_groups([text for part in parts for text in part.joined()])
    first, *others = np.split(groups, np.cumsum([len(part) for part in parts])[:-1])
    return [int(np.isin(other, first).sum()) for other in others]


def near_duplicate_groups(texts: Sequence[str], similar: float = SIMILAR) -> np.ndarray:
    """The number of each text's group (int64 [n]), from 0 in the order of their first texts.

    Texts are in one group if they have the same words (whatever their order, case and punctuation), if their
    similarity is at least ``similar``, or if other texts of the group connect them. A text without words is a group
    by itself. With a similarity of 1, only texts of the same words are joined.
    """
    from longtail.data import near_duplicate_kernel as kernels

    sketches = np.empty((len(texts), _HASHES), np.uint16)
    same_words = np.empty(len(texts), np.uint64)
    masks, factors = _hash_functions()

    def work(rows: slice) -> None:
        plain = [normalised(text) for text in texts[rows]]
        codes = np.frombuffer("".join(plain).encode("utf-32-le", "surrogatepass"), np.uint32)
        ends = np.cumsum([len(text) for text in plain], dtype=np.int64)
        kernels.sketch(codes, ends, _kinds(), masks, factors, sketches[rows], same_words[rows])

    threads.run_all(work, list(_chunks(texts)))
    roots = np.arange(len(texts), dtype=np.int64)
    kernels.link_equal(np.argsort(same_words, kind="stable"), same_words, roots)
    least = round(similar * _HASHES)
    for first in range(0, _HASHES, _WIDTH) if similar < 1 else ():
        keys = kernels.bucket_keys(sketches, first, _WIDTH)
        kernels.link_similar(np.argsort(keys, kind="stable"), keys, sketches, same_words, least, roots)
    return kernels.numbered(roots)


def _chunks(texts: Sequence[str]) -> Iterator[slice]:
    """Ranges of texts of about as many characters."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    ends = np.concatenate([[0], np.cumsum(lengths)])
    start = 0
    while start < len(texts):
        stop = max(start + 1, int(np.searchsorted(ends, ends[start] + _CHARACTERS, side="right")) - 1)
        yield slice(start, stop)
        start = stop


@cache
def _hash_functions() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    masks = rng.integers(0, 2**32, _HASHES, dtype=np.uint32)
    factors = rng.integers(0, 2**32, _HASHES, dtype=np.uint32) | np.uint32(1)
    return masks, factors


@cache
def _kinds() -> np.ndarray:
    from longtail.data.near_duplicate_kernel import BEYOND_TABLE, LETTER, SEPARATOR, WORD

    kinds = np.fromiter(
        (LETTER if chr(code).isalnum() else SEPARATOR for code in range(BEYOND_TABLE)), np.uint8, BEYOND_TABLE
    )
    for first, end in _WITHOUT_SPACES:
        some = kinds[first:end]
        some[some == LETTER] = WORD
    return kinds
