"""The kernels of near-duplicates: sketches of texts (MinHash), and links between texts of similar sketches."""

from __future__ import annotations

import numpy as np

from longtail.kernels import kernel

SEPARATOR, LETTER, WORD = 0, 1, 2
"""What a character is: between words, a part of a word, or a word by itself (in writing without spaces)."""

BEYOND_TABLE = 65536
"""Characters from here on (rare ideographs, symbols) are words by themselves."""

_FIRST = np.uint64(0xCBF29CE484222325)
_PRIME = np.uint64(0x100000001B3)
_PAIR = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xFF51AFD7ED558CCD)
_MIX_AGAIN = np.uint64(0xC4CEB9FE1A85EC53)
_PREVIOUS = 4
"""Texts before it in its bucket that a text is compared with: the time stays linear where a bucket is large."""


@kernel
def _mixed(bits: np.uint64) -> np.uint64:
    """64 bits, each of which depends on all of these."""
    bits = (bits ^ (bits >> np.uint64(33))) * _MIX
    bits = (bits ^ (bits >> np.uint64(33))) * _MIX_AGAIN
    return bits ^ (bits >> np.uint64(33))


@kernel
def _lower(smallest: np.ndarray, feature: np.uint64, masks: np.ndarray, factors: np.ndarray) -> None:
    bits = np.uint32(feature >> np.uint64(32))
    for at in range(len(smallest)):
        smallest[at] = min(smallest[at], np.uint32((bits ^ masks[at]) * factors[at]))


@kernel
def sketch(
    codes: np.ndarray,
    ends: np.ndarray,
    kinds: np.ndarray,
    masks: np.ndarray,
    factors: np.ndarray,
    sketches: np.ndarray,
    same_words: np.ndarray,
) -> None:
    """The smallest hashes of the words and pairs of adjacent words of each text, and a key of its set of words.

    Args:
        codes: the characters of all texts, one text after another, uint32.
        ends: where each text ends, int64 [n].
        kinds: SEPARATOR, LETTER or WORD for each character below BEYOND_TABLE, uint8.
        masks, factors: the hash functions, uint32 [hashes].
        sketches: where the hashes go, uint16 [n, hashes].
        same_words: where the keys go, uint64 [n]; 0 for a text without a word.
    """
    smallest = np.empty(len(masks), np.uint32)
    words = np.empty(len(codes) + 1, np.uint64)
    start = 0
    for text in range(len(ends)):
        smallest[:] = np.uint32(0xFFFFFFFF)
        count, previous, hashed, inside = 0, np.uint64(0), _FIRST, False
        for at in range(start, ends[text] + 1):
            kind = SEPARATOR
            if at < ends[text]:
                kind = WORD if codes[at] >= BEYOND_TABLE else kinds[codes[at]]
            if inside and kind != LETTER:
                previous = _take(smallest, _mixed(hashed), previous, masks, factors)
                words[count] = previous
                count, hashed, inside = count + 1, _FIRST, False
            if kind != SEPARATOR:
                hashed = (hashed ^ np.uint64(codes[at])) * _PRIME
                inside = True
            if kind == WORD:
                previous = _take(smallest, _mixed(hashed), previous, masks, factors)
                words[count] = previous
                count, hashed, inside = count + 1, _FIRST, False
        start = ends[text]
        for at in range(len(smallest)):
            sketches[text, at] = np.uint16(smallest[at] >> np.uint32(16))
        same_words[text] = _set_key(words[:count])


@kernel
def _take(
    smallest: np.ndarray, word: np.uint64, previous: np.uint64, masks: np.ndarray, factors: np.ndarray
) -> np.uint64:
    """Take a word, and the pair of it and the one before it; returns the word."""
    _lower(smallest, word, masks, factors)
    if previous != 0:
        _lower(smallest, _mixed(previous * _PAIR + word), masks, factors)
    return word


@kernel
def _set_key(words: np.ndarray) -> np.uint64:
    """A key of the set of words, whatever their order and number."""
    if len(words) == 0:
        return np.uint64(0)
    total, before = np.uint64(0), np.uint64(0)
    for word in np.sort(words):
        if word != before:
            total += _mixed(word + _PAIR)
        before = word
    return max(_mixed(total), np.uint64(1))


@kernel
def bucket_keys(sketches: np.ndarray, first: int, width: int) -> np.ndarray:
    """One key per text for some of its hashes: texts with the same ones are in one bucket."""
    keys = np.empty(len(sketches), np.uint64)
    for text in range(len(sketches)):
        key = _FIRST
        for at in range(first, first + width):
            key = _mixed(key ^ np.uint64(sketches[text, at])) * _PAIR
        keys[text] = key
    return keys


@kernel
def link_equal(order: np.ndarray, keys: np.ndarray, roots: np.ndarray) -> None:
    """Join texts of the same key, unless it is 0; ``order`` sorts the keys."""
    for at in range(1, len(order)):
        if keys[order[at]] == keys[order[at - 1]] != 0:
            _join(roots, order[at - 1], order[at])


@kernel
def link_similar(
    order: np.ndarray,
    keys: np.ndarray,
    sketches: np.ndarray,
    same_words: np.ndarray,
    least: int,
    roots: np.ndarray,
) -> None:
    """Join texts of one bucket of which at least so many hashes are equal."""
    begin = 0
    for at in range(1, len(order)):
        if keys[order[at]] != keys[order[at - 1]]:
            begin = at
        text = order[at]
        if same_words[text] == 0:
            continue
        for before in range(max(begin, at - _PREVIOUS), at):
            other = order[before]
            if same_words[other] == 0 or root_of(roots, other) == root_of(roots, text):
                continue
            equal = 0
            for hash_ in range(sketches.shape[1]):
                equal += sketches[text, hash_] == sketches[other, hash_]
            if equal >= least:
                _join(roots, other, text)


@kernel
def root_of(roots: np.ndarray, text: int) -> int:
    """The first text of the group; the way to it gets shorter."""
    while roots[text] != text:
        roots[text] = roots[roots[text]]
        text = roots[text]
    return text


@kernel
def _join(roots: np.ndarray, one: int, other: int) -> None:
    first, second = root_of(roots, one), root_of(roots, other)
    roots[max(first, second)] = min(first, second)


@kernel
def numbered(roots: np.ndarray) -> np.ndarray:
    """The number of each text's group, from 0 in the order of their first texts."""
    numbers = np.empty(len(roots), np.int64)
    count = 0
    for text in range(len(roots)):
        root = root_of(roots, text)
        if root == text:
            numbers[text] = count
            count += 1
        else:
            numbers[text] = numbers[root]
    return numbers
