"""Names in a text by a rule of thumb: capitalised words in a row within a sentence.

This is no recogniser of named entities (``recogniser.py`` is one). It needs no library and no language: it works in
every script that has capitals, and finds nothing in others. The first word of a sentence is capitalised anyway and
begins no name; a sentence of which two words in three are (a heading) tells nothing. In German every noun is a name
of one word, which is a keyword at worst.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from longtail.kernels import kernel
from longtail.text.sentences import capitals, smalls
from longtail.text.tokens import Tokens

LONGEST = 5
"""Words of a name at most; of a longer row, the first ones are the name."""

_MIX = np.uint64(0x9E3779B97F4A7C15)
_PRIME = np.uint64(0xC4CEB9FE1A85EC53)
_SHIFT = np.uint64(29)


@dataclass(frozen=True, slots=True)
class Names:
    """Mentions in the order of the text: their first word (a place among the tokens), how many words they have,
    and a hash of those words, capitals or not."""

    first: np.ndarray
    sizes: np.ndarray
    hashes: np.ndarray


def find_names(codes: np.ndarray, tokens: Tokens, sentence_words: np.ndarray) -> Names:
    """The names in sentences; ``codes`` have their capitals, ``tokens`` are in small letters at the same places.

    Shapes: ``sentence_words`` int64[sentences + 1], where the words of each sentence begin.
    """
    spans = tokens.spans
    return Names(
        *_find(codes, spans.starts, spans.lengths, spans.hashes, sentence_words, capitals(), smalls())
    )


def named(tokens: Tokens, first: np.ndarray, sizes: np.ndarray) -> Names:
    """Names that are known by their words: ``first`` int64, ``sizes`` int32, at least one word each."""
    return Names(first, sizes, _hashes(tokens.spans.hashes, first, sizes))


@kernel
def _hash(hashes: np.ndarray, first: int, size: int) -> np.uint64:
    """A hash of the words from ``first`` on."""
    key = _MIX
    for i in range(first, first + size):
        key = (key ^ hashes[i]) * _PRIME
        key = key ^ (key >> _SHIFT)
    return key


@kernel
def _hashes(hashes: np.ndarray, first: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    keys = np.empty(len(first), np.uint64)
    for name in range(len(first)):
        keys[name] = _hash(hashes, first[name], sizes[name])
    return keys


@kernel
def _adjacent(codes: np.ndarray, stop: int, start: int) -> bool:
    """Whether one space, hyphen or apostrophe is all there is between two words."""
    if start - stop != 1:
        return False
    code = codes[stop]
    return bool(code == 32 or code == 45 or code == 39 or code == 0xA0 or code == 0x2019)


@kernel
def _find(
    codes: np.ndarray,
    starts: np.ndarray,
    lengths: np.ndarray,
    hashes: np.ndarray,
    sentence_words: np.ndarray,
    capital: np.ndarray,
    small: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    first = np.empty(len(starts), np.int64)
    sizes = np.empty(len(starts), np.int32)
    keys = np.empty(len(starts), np.uint64)
    found = 0
    for sentence in range(len(sentence_words) - 1):
        begin, end = sentence_words[sentence], sentence_words[sentence + 1]
        n_capital = n_small = 0
        for word in range(begin + 1, end):
            n_capital += capital[codes[starts[word]]]
            n_small += small[codes[starts[word]]]
        if n_capital > 2 * n_small:
            continue
        word = begin + 1
        while word < end:
            if not capital[codes[starts[word]]]:
                word += 1
                continue
            stop = word + 1
            while (
                stop < end
                and capital[codes[starts[stop]]]
                and _adjacent(codes, starts[stop - 1] + lengths[stop - 1], starts[stop])
            ):
                stop += 1
            size = min(stop - word, LONGEST)
            first[found] = word
            sizes[found] = size
            keys[found] = _hash(hashes, word, size)
            found += 1
            word = stop
    return first[:found].copy(), sizes[:found].copy(), keys[:found].copy()
