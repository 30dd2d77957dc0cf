"""Words that do not exist but can be said: each number has its own."""

from __future__ import annotations

import numpy as np

_SYLLABLES = [f"{consonant}{vowel}" for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]


def made_up_words(n: int, seed: int = 0) -> np.ndarray:
    """n different words of two syllables or more, in random order (an object array of strings)."""
    base, length = len(_SYLLABLES), 2
    while base**length < 2 * n:  # a half that is not used keeps the words from being a mere counting
        length += 1
    rng = np.random.default_rng(seed)
    if base**length < 10_000_000:
        numbers = rng.permutation(base**length)[:n]
    else:
        numbers = rng.permutation(np.unique(rng.integers(0, base**length, 2 * n)))[:n]
    syllables = np.array(_SYLLABLES, object)
    words = np.full(n, "", object)
    for _ in range(length):
        numbers, digit = np.divmod(numbers, base)
        words = words + syllables[digit]
    return words
