"""How often each term is in each document, and in how many documents it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from longtail.kernels import kernel
from longtail.text.ngrams import FIRST_NGRAM

_MULTIPLIER = 0x9E3779B1


@dataclass(frozen=True, slots=True)
class Counts:
    """Rows of (term number, count), sorted by number."""

    indptr: np.ndarray
    numbers: np.ndarray
    counts: np.ndarray


def count(indptr: np.ndarray, ngrams: np.ndarray) -> Counts:
    """The distinct numbers of each document with their counts; -1 is skipped.

    Shapes: ``ngrams`` int32[orders, n_tokens], where document ``d`` has the columns ``indptr[d]:indptr[d + 1]``.
    """
    return Counts(*_count_documents(indptr, ngrams))


class Tally:
    """Document frequency and total count of every term, over all documents seen; tokens and n-grams apart."""

    def __init__(self) -> None:
        self.documents = 0
        self.n_tokens = self.n_ngrams = 0
        self._tokens = np.zeros((0, 2), np.int64)
        self._ngrams = np.zeros((0, 2), np.int64)

    def add_all(self, chunks: Iterable[Counts], n_tokens: int, n_ngrams: int) -> None:
        """Take in several chunks of documents."""
        for counts in chunks:
            self.add(counts, n_tokens, n_ngrams)

    def add(self, counts: Counts, n_tokens: int, n_ngrams: int) -> None:
        """Take in more documents, after which there are ``n_tokens`` tokens and ``n_ngrams`` n-grams."""
        self._tokens, self._ngrams = _with_room(self._tokens, n_tokens), _with_room(self._ngrams, n_ngrams)
        self.n_tokens, self.n_ngrams = n_tokens, n_ngrams
        _tally(counts.numbers, counts.counts, self._tokens, self._ngrams)
        self.documents += len(counts.indptr) - 1

    def joined(self) -> tuple[np.ndarray, np.ndarray]:
        """Document frequencies and total counts, tokens first."""
        both = np.concatenate([self._tokens[: self.n_tokens], self._ngrams[: self.n_ngrams]])
        return both[:, 0], both[:, 1]


def _with_room(table: np.ndarray, size: int) -> np.ndarray:
    if len(table) >= size:
        return table
    larger = np.zeros((max(size, 2 * len(table)), 2), np.int64)
    larger[: len(table)] = table
    return larger


@kernel
def count_distinct(numbers: np.ndarray, packed: np.ndarray, found: int, slots: np.ndarray) -> int:
    """Count more numbers of one document into ``packed[:found]``; returns how many different ones there are.

    Each entry holds a number in its upper half and the count in its lower half, so that one sort of the few
    different entries orders both. ``slots`` is a hash table of entries, -1 where free.
    """
    mask = len(slots) - 1
    for number in numbers:
        if number < 0:
            continue
        at = ((number * _MULTIPLIER) >> 15) & mask
        while slots[at] >= 0 and (packed[slots[at]] >> 32) != number:
            at = (at + 1) & mask
        if slots[at] < 0:
            slots[at] = found
            packed[found] = number << 32
            found += 1
        packed[slots[at]] += 1
    return found


@kernel
def free_slots(size: int) -> np.ndarray:
    """An empty table with room for ``size`` entries."""
    capacity = 16
    while capacity < 2 * size:
        capacity *= 2
    return np.full(capacity, -1, np.int32)


@kernel
def unpack(packed: np.ndarray, numbers: np.ndarray, counts: np.ndarray) -> None:
    """Write the numbers and counts of packed entries."""
    for i in range(len(packed)):
        numbers[i] = packed[i] >> 32
        counts[i] = packed[i] & 0xFFFF_FFFF


@kernel
def _count_documents(indptr: np.ndarray, ngrams: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    orders = len(ngrams)
    packed = np.empty(ngrams.size, np.int64)
    sizes = np.zeros(len(indptr), np.int64)
    for d in range(len(indptr) - 1):
        mine = packed[indptr[d] * orders : indptr[d + 1] * orders]
        slots = free_slots(len(mine))
        found = 0
        for order in range(orders):
            found = count_distinct(ngrams[order, indptr[d] : indptr[d + 1]], mine, found, slots)
        mine[:found].sort()
        sizes[d + 1] = found
    rows = np.cumsum(sizes)
    numbers = np.empty(rows[-1], np.int32)
    counts = np.empty(rows[-1], np.int32)
    for d in range(len(indptr) - 1):
        start = indptr[d] * orders
        unpack(
            packed[start : start + sizes[d + 1]],
            numbers[rows[d] : rows[d + 1]],
            counts[rows[d] : rows[d + 1]],
        )
    return rows, numbers, counts


@kernel
def _tally(numbers: np.ndarray, counts: np.ndarray, tokens: np.ndarray, ngrams: np.ndarray) -> None:
    for i in range(len(numbers)):
        number = numbers[i]
        if number < FIRST_NGRAM:
            tokens[number, 0] += 1
            tokens[number, 1] += counts[i]
        else:
            ngrams[number - FIRST_NGRAM, 0] += 1
            ngrams[number - FIRST_NGRAM, 1] += counts[i]
