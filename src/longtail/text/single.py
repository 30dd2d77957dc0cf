"""One short text, from code points to its row in a single call: no arrays between steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from longtail.kernels import kernel
from longtail.text.characters import character_classes
from longtail.text.counting import count_distinct, free_slots, unpack
from longtail.text.hash_table import NO_KEY, find_key
from longtail.text.lexicon import Lexicon
from longtail.text.ngrams import FIRST_NGRAM, Ngrams, ngram_key
from longtail.text.tokens import split_document
from longtail.text.weighting import Weights, weigh_row


def single_arguments(lexicon: Lexicon, ngrams: Ngrams, weights: Weights, min_length: int) -> tuple[Any, ...]:
    """What ``single_row`` takes after the code points: made once, used for every text."""
    return (
        character_classes(),
        min_length,
        lexicon.table.slots,
        lexicon.table.keys,
        ngrams.longest,
        ngrams.table.slots,
        ngrams.table.keys,
        *weights.arguments(),
    )


@kernel
def single_row(
    codes: np.ndarray,
    classes: np.ndarray,
    min_length: int,
    slots: np.ndarray,
    keys: np.ndarray,
    longest: int,
    run_slots: np.ndarray,
    run_keys: np.ndarray,
    columns: np.ndarray,
    n_tokens: int,
    bounds: np.ndarray,
    idf: np.ndarray,
    sublinear: bool,
    l2: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """The columns and weights of one text."""
    hashes = np.empty(len(codes), np.uint64)
    spans = np.empty((2, len(codes)), np.int32)
    size = split_document(codes, classes, min_length, spans[0], spans[1], hashes)
    tokens = np.empty(size, np.int32)
    for i in range(size):
        tokens[i] = find_key(hashes[i], slots, keys)

    packed = np.empty(size * longest, np.int64)
    table = free_slots(size * longest)
    ngrams = tokens.copy()
    found = count_distinct(ngrams, packed, 0, table)
    for order in range(2, longest + 1):
        ngrams = ngrams[: size - order + 1]
        for i in range(len(ngrams)):
            key = ngram_key(ngrams[i], tokens[i + order - 1])
            number = -1 if key == NO_KEY else find_key(key, run_slots, run_keys)
            ngrams[i] = number + FIRST_NGRAM if number >= 0 else -1
        found = count_distinct(ngrams, packed, found, table)
    packed[:found].sort()

    numbers = np.empty(found, np.int32)
    counts = np.empty(found, np.int32)
    unpack(packed[:found], numbers, counts)
    out_columns = np.empty(found, np.int32)
    out_data = np.empty(found, np.float32)
    kept = weigh_row(
        numbers,
        counts,
        out_columns,
        out_data,
        columns,
        n_tokens,
        bounds,
        idf,
        sublinear,
        l2,
    )
    return out_columns[:kept], out_data[:kept]
