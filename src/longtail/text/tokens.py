"""Splitting texts into words, each one a span of code points with a 64-bit hash."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from longtail.kernels import kernel
from longtail.text.characters import IDEOGRAPH, LETTER, SEPARATOR, character_classes
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
    indptr, starts, lengths, hashes = _split(points.codes, points.offsets, character_classes(), min_length)
    return Tokens(indptr, Spans(points.codes, starts, lengths, hashes))


def whole(points: CodePoints) -> Spans:
    """Each document as one span."""
    starts = points.offsets[:-1].copy()
    lengths = np.diff(points.offsets).astype(np.int32)
    return Spans(points.codes, starts, lengths, hash_spans(points.codes, starts, lengths))


@kernel
def extend_hash(value: np.uint64, code: np.uint32) -> np.uint64:
    """The hash of a string with one more code point."""
    value = (value ^ np.uint64(code)) * _PRIME
    return value ^ (value >> _SHIFT)


@kernel
def hash_span(codes: np.ndarray, start: int, stop: int) -> np.uint64:
    """The 64-bit hash of ``codes[start:stop]``."""
    value = _SEED
    for at in range(start, stop):
        value = extend_hash(value, codes[at])
    return value


@kernel
def hash_spans(codes: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The hashes of many spans."""
    hashes = np.empty(len(starts), np.uint64)
    for i in range(len(starts)):
        hashes[i] = hash_span(codes, starts[i], starts[i] + lengths[i])
    return hashes


@kernel
def split_document(
    codes: np.ndarray,
    classes: np.ndarray,
    min_length: int,
    starts: np.ndarray,
    lengths: np.ndarray,
    hashes: np.ndarray,
) -> int:
    """Write where the words of one document start, their lengths and hashes; returns how many there are."""
    found = 0
    first = -1  # where the current word starts, -1 between words
    alone = False  # whether the current word is an ideograph, which only marks continue
    value = _SEED
    for at in range(len(codes) + 1):
        kind = classes[codes[at]] if at < len(codes) else SEPARATOR
        if kind & LETTER and first >= 0 and not (alone and kind == LETTER):
            value = extend_hash(value, codes[at])
            continue
        if first >= 0:
            if alone or at - first >= min_length:
                starts[found] = first
                lengths[found] = at - first
                hashes[found] = value
                found += 1
            first = -1
        if kind in (LETTER, IDEOGRAPH):
            first = at
            alone = kind == IDEOGRAPH
            value = extend_hash(_SEED, codes[at])
    return found


@kernel
def _split(
    codes: np.ndarray, offsets: np.ndarray, classes: np.ndarray, min_length: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    n_documents = len(offsets) - 1
    # Room for the worst case, a token a character: what is never written is never backed by memory.
    loose_starts = np.empty(len(codes), np.int32)
    loose_lengths = np.empty(len(codes), np.int32)
    loose_hashes = np.empty(len(codes), np.uint64)
    sizes = np.zeros(n_documents + 1, np.int64)
    for d in range(n_documents):
        start, end = offsets[d], offsets[d + 1]
        sizes[d + 1] = split_document(
            codes[start:end],
            classes,
            min_length,
            loose_starts[start:end],
            loose_lengths[start:end],
            loose_hashes[start:end],
        )
    indptr = np.cumsum(sizes)
    starts = np.empty(indptr[-1], np.int64)
    lengths = np.empty(indptr[-1], np.int32)
    hashes = np.empty(indptr[-1], np.uint64)
    for d in range(n_documents):
        shift = offsets[d] - indptr[d]
        for i in range(indptr[d], indptr[d + 1]):
            starts[i] = offsets[d] + loose_starts[i + shift]
            lengths[i] = loose_lengths[i + shift]
            hashes[i] = loose_hashes[i + shift]
    return indptr, starts, lengths, hashes
