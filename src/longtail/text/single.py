"""One short text, from code points to its row in a single call: no arrays between steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from longtail.kernels import kernel
from longtail.text.char_ngrams import CharGroup, ngrams_of_words
from longtail.text.characters import character_classes
from longtail.text.config import TextConfig
from longtail.text.counting import count_distinct, free_slots, unpack
from longtail.text.group import ColumnGroup
from longtail.text.hash_table import NO_KEY, HashTable, find_key
from longtail.text.ngrams import FIRST_NGRAM, ngram_key
from longtail.text.terms import TermGroup
from longtail.text.tokens import split_document
from longtail.text.weighting import weigh_row
from longtail.text.wordpiece import WordPieces
from longtail.text.words import Words

_NO_TOKENS = np.zeros(0, np.int64), np.zeros(0, np.int32)


def row_of(
    codes: np.ndarray, arguments: tuple[Any, ...], tokens: Callable[[], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The columns and weights of a text; ``tokens`` gives its tokens where they cannot be looked up."""
    complete, columns, data = single_row(codes, _NO_TOKENS[1], False, *arguments)
    if not complete:
        # Some word was not met in learning: it has to be stemmed or cut up.
        _, columns, data = single_row(codes, tokens(), True, *arguments)
    return columns, data


def single_arguments(groups: Sequence[ColumnGroup], config: TextConfig) -> tuple[Any, ...]:
    """What ``single_row`` takes after the code points: made once, used for every text."""
    terms = groups[0]
    assert isinstance(terms, TermGroup), "tokens and their n-grams come first"
    characters = groups[1] if len(groups) > 1 else None
    return (
        character_classes(),
        config.min_token_length,
        _words(terms),
        (terms.ngrams.longest, terms.ngrams.table.slots, terms.ngrams.table.keys),
        terms.weights.arguments(),
        *_characters(characters if isinstance(characters, CharGroup) else None, terms),
        config.norm == "l2",
    )


def _words(terms: TermGroup) -> tuple[np.ndarray, ...]:
    """Where a word is looked up, and the tokens of each word; none: a word's number is its token."""
    tokens = terms.tokens
    if isinstance(tokens, WordPieces):
        return tokens.known.slots, tokens.known.keys, tokens.indptr, tokens.pieces
    assert isinstance(tokens, Words), "there are words and pieces of words"
    if tokens.stem is not None:
        return tokens.seen.slots, tokens.seen.keys, np.arange(len(tokens.stem_of) + 1), tokens.stem_of
    return tokens.lexicon.table.slots, tokens.lexicon.table.keys, *_NO_TOKENS


def _characters(group: CharGroup | None, terms: TermGroup) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The lengths of n-grams, where they are looked up and their weights; lengths of 0: there is no group."""
    if group is None:
        nothing = HashTable()
        return (0, 0, nothing.slots, nothing.keys), terms.weights.arguments()
    return (*group.lengths, group.lexicon.table.slots, group.lexicon.table.keys), group.weights.arguments()


@kernel
def single_row(
    codes: np.ndarray,
    given: np.ndarray,
    is_given: bool,
    classes: np.ndarray,
    min_length: int,
    words: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    ngrams: tuple[int, np.ndarray, np.ndarray],
    weights: tuple[np.ndarray, int, np.ndarray, np.ndarray, bool, bool],
    characters: tuple[int, int, np.ndarray, np.ndarray],
    character_weights: tuple[np.ndarray, int, np.ndarray, np.ndarray, bool, bool],
    l2: bool,
) -> tuple[bool, np.ndarray, np.ndarray]:
    """Whether every word could be looked up that has to be, and the columns and weights of the text.

    ``given``: its tokens, if ``is_given``.
    """
    hashes = np.empty(len(codes), np.uint64)
    starts, lengths = np.empty(len(codes), np.int32), np.empty(len(codes), np.int32)
    size = split_document(codes, classes, min_length, starts, lengths, hashes)
    complete, tokens = True, given
    if not is_given:
        complete, tokens = _tokens(hashes[:size], *words)
    columns, data = _terms(tokens, ngrams, weights)
    if characters[0] == 0 or not complete:
        return complete, columns, data
    more_columns, more_data = _character_ngrams(
        codes, starts[:size], lengths[:size], characters, character_weights
    )
    n, n_more = len(columns), len(more_columns)
    scale = np.float32(1)
    if l2 and n > 0 and n_more > 0:
        # Each group weighs the same.
        scale = np.float32(1) / np.sqrt(np.float32(2))
    all_columns, all_data = np.empty(n + n_more, np.int32), np.empty(n + n_more, np.float32)
    for i in range(n):
        all_columns[i], all_data[i] = columns[i], data[i] * scale
    first = np.int32(len(weights[3]))
    for i in range(n_more):
        all_columns[n + i], all_data[n + i] = first + more_columns[i], more_data[i] * scale
    return complete, all_columns, all_data


@kernel
def _tokens(
    hashes: np.ndarray, slots: np.ndarray, keys: np.ndarray, token_ptr: np.ndarray, tokens: np.ndarray
) -> tuple[bool, np.ndarray]:
    rows = np.empty(len(hashes), np.int32)
    for i in range(len(hashes)):
        rows[i] = find_key(hashes[i], slots, keys)
    if len(token_ptr) == 0:
        return True, rows
    total = 0
    for row in rows:
        if row < 0:
            # A word that was not met in learning has to be stemmed or cut up first.
            return False, rows[:0]
        total += token_ptr[row + 1] - token_ptr[row]
    found = np.empty(total, np.int32)
    at = 0
    for row in rows:
        for q in range(token_ptr[row], token_ptr[row + 1]):
            found[at] = tokens[q]
            at += 1
    return True, found


@kernel
def _terms(
    tokens: np.ndarray,
    ngrams: tuple[int, np.ndarray, np.ndarray],
    weights: tuple[np.ndarray, int, np.ndarray, np.ndarray, bool, bool],
) -> tuple[np.ndarray, np.ndarray]:
    longest, slots, keys = ngrams
    size = len(tokens)
    packed = np.empty(size * longest, np.int64)
    table = free_slots(size * longest)
    numbers = tokens.copy()
    found = count_distinct(numbers, packed, 0, table)
    for order in range(2, longest + 1):
        numbers = numbers[: size - order + 1]
        for i in range(len(numbers)):
            key = ngram_key(numbers[i], tokens[i + order - 1])
            number = -1 if key == NO_KEY else find_key(key, slots, keys)
            numbers[i] = number + FIRST_NGRAM if number >= 0 else -1
        found = count_distinct(numbers, packed, found, table)
    return _weighed(packed[:found], weights)


@kernel
def _character_ngrams(
    codes: np.ndarray,
    starts: np.ndarray,
    lengths: np.ndarray,
    characters: tuple[int, int, np.ndarray, np.ndarray],
    weights: tuple[np.ndarray, int, np.ndarray, np.ndarray, bool, bool],
) -> tuple[np.ndarray, np.ndarray]:
    shortest, longest, slots, keys = characters
    _, _, _, hashes, _ = ngrams_of_words(codes, starts, lengths, shortest, longest)
    numbers = np.empty(len(hashes), np.int32)
    for i in range(len(hashes)):
        numbers[i] = find_key(hashes[i], slots, keys)
    packed = np.empty(len(numbers), np.int64)
    found = count_distinct(numbers, packed, 0, free_slots(len(numbers)))
    return _weighed(packed[:found], weights)


@kernel
def _weighed(
    packed: np.ndarray, weights: tuple[np.ndarray, int, np.ndarray, np.ndarray, bool, bool]
) -> tuple[np.ndarray, np.ndarray]:
    packed.sort()
    n = len(packed)
    numbers, counts = np.empty(n, np.int32), np.empty(n, np.int32)
    unpack(packed, numbers, counts)
    columns, data = np.empty(n, np.int32), np.empty(n, np.float32)
    kept = weigh_row(numbers, counts, columns, data, *weights)
    return columns[:kept], data[:kept]
