"""One short text, from code points to its row in a single call: no threads to wake, no arrays between steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from longtail.text.characters import character_classes
from longtail.text.counting import run_lengths
from longtail.text.hash_table import NO_KEY, find_key
from longtail.text.lexicon import Lexicon
from longtail.text.ngrams import FIRST_RUN, Ngrams, run_key
from longtail.text.tokens import hash_span, next_word
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


@njit(cache=True)
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
    end = len(codes)
    tokens = np.empty(end, np.int32)
    size = 0
    start, stop = next_word(codes, 0, end, classes, min_length)
    while start < end:
        tokens[size] = find_key(hash_span(codes, start, stop), slots, keys)
        size += 1
        start, stop = next_word(codes, stop, end, classes, min_length)

    found = np.empty(size * longest, np.int32)
    n_found = 0
    runs = tokens[:size].copy()
    for order in range(1, longest + 1):
        for i in range(size - order + 1):
            if order > 1:
                key = run_key(runs[i], tokens[i + order - 1])
                number = -1 if key == NO_KEY else find_key(key, run_slots, run_keys)
                runs[i] = number + FIRST_RUN if number >= 0 else -1
            if runs[i] >= 0:
                found[n_found] = runs[i]
                n_found += 1
    found[:n_found].sort()

    counts = np.empty(n_found, np.int32)
    numbers = np.empty(n_found, np.int32)
    distinct = run_lengths(found, n_found, numbers, counts)
    out_columns = np.empty(distinct, np.int32)
    out_data = np.empty(distinct, np.float32)
    kept = weigh_row(
        numbers[:distinct],
        counts[:distinct],
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
