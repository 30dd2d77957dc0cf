"""Splitting texts into words, each one a span of code points with a 64-bit hash."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit, prange

from longtail.text.characters import IDEOGRAPH, LETTER, MARK, SEPARATOR, character_classes
from longtail.text.codepoints import CodePoints

_SEED = np.uint64(0x9E3779B97F4A7C15)
_PRIME = np.uint64(0xFF51AFD7ED558CCD)
_SHIFT = np.uint64(32)


@dataclass(frozen=True, slots=True)
class Spans:
    """Pieces of one code point array: where each one starts, how long it is, and its hash."""

    codes: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray
    hashes: np.ndarray

    def take(self, which: np.ndarray) -> Spans:
        """The chosen spans."""
        return Spans(self.codes, self.starts[which], self.lengths[which], self.hashes[which])


@dataclass(frozen=True, slots=True)
class Tokens:
    """The words of documents in their order; those of document ``d`` are ``indptr[d]:indptr[d + 1]``."""

    indptr: np.ndarray
    spans: Spans


def split(points: CodePoints, *, min_length: int = 1) -> Tokens:
    """The words of every document."""
    classes = character_classes()
    sizes = _count_tokens(points.codes, points.offsets, classes, min_length)
    indptr = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=indptr[1:])
    starts, lengths, hashes = _fill_tokens(points.codes, points.offsets, classes, min_length, indptr)
    return Tokens(indptr, Spans(points.codes, starts, lengths, hashes))


def whole(points: CodePoints) -> Spans:
    """Each document as one span."""
    starts = points.offsets[:-1].copy()
    lengths = np.diff(points.offsets).astype(np.int32)
    return Spans(points.codes, starts, lengths, hash_spans(points.codes, starts, lengths))


@njit(cache=True)
def hash_span(codes: np.ndarray, start: int, stop: int) -> np.uint64:
    """The 64-bit hash of ``codes[start:stop]``."""
    value = _SEED
    for at in range(start, stop):
        value = (value ^ np.uint64(codes[at])) * _PRIME
        value ^= value >> _SHIFT
    return value


@njit(cache=True)
def hash_spans(codes: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The hashes of many spans."""
    hashes = np.empty(len(starts), np.uint64)
    for i in range(len(starts)):
        hashes[i] = hash_span(codes, starts[i], starts[i] + lengths[i])
    return hashes


@njit(cache=True)
def next_word(
    codes: np.ndarray, start: int, end: int, classes: np.ndarray, min_length: int
) -> tuple[int, int]:
    """The first and the past-the-last position of the next word before ``end``, or (end, end)."""
    while True:
        while start < end and (classes[codes[start]] == SEPARATOR or classes[codes[start]] == MARK):
            start += 1
        if start >= end:
            return end, end
        stop = start + 1
        if classes[codes[start]] == IDEOGRAPH:
            while stop < end and classes[codes[stop]] == MARK:
                stop += 1
            return start, stop
        while stop < end and (classes[codes[stop]] == LETTER or classes[codes[stop]] == MARK):
            stop += 1
        if stop - start >= min_length:
            return start, stop
        start = stop


@njit(cache=True, parallel=True)
def _count_tokens(
    codes: np.ndarray, offsets: np.ndarray, classes: np.ndarray, min_length: int
) -> np.ndarray:
    sizes = np.empty(len(offsets) - 1, np.int64)
    for d in prange(len(sizes)):
        end = offsets[d + 1]
        count = 0
        start, stop = next_word(codes, offsets[d], end, classes, min_length)
        while start < end:
            count += 1
            start, stop = next_word(codes, stop, end, classes, min_length)
        sizes[d] = count
    return sizes


@njit(cache=True, parallel=True)
def _fill_tokens(
    codes: np.ndarray, offsets: np.ndarray, classes: np.ndarray, min_length: int, indptr: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    starts = np.empty(indptr[-1], np.int64)
    lengths = np.empty(indptr[-1], np.int32)
    hashes = np.empty(indptr[-1], np.uint64)
    for d in prange(len(offsets) - 1):
        end = offsets[d + 1]
        stop = offsets[d]
        for i in range(indptr[d], indptr[d + 1]):
            start, stop = next_word(codes, stop, end, classes, min_length)
            starts[i] = start
            lengths[i] = stop - start
            hashes[i] = hash_span(codes, start, stop)
    return starts, lengths, hashes
