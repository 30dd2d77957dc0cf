"""What each Unicode character does to a word: end it, belong to it, continue it, or be one by itself."""

from __future__ import annotations

from functools import cache
from unicodedata import category

import numpy as np

SEPARATOR, LETTER, IDEOGRAPH, MARK = 0, 1, 2, 3
"""A mark (an accent, a vowel sign, a joiner) continues a word but never begins one.

The lowest bit says whether a character continues a word: the kernels test that bit alone."""

_UNSPACED = [
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3031, 0x3035),
    (0x3038, 0x303C),
    (0x3041, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),
    (0x1AFF0, 0x1B16F),
    (0x20000, 0x3FFFF),
]
"""Han, Hiragana and Katakana: written without spaces, so each character is a token."""

_JOINERS = (0x200C, 0x200D)
"""Zero-width joiners sit inside words of Persian and the Indic scripts."""


@cache
def character_classes() -> np.ndarray:
    """The class of every code point; uint8[0x110000]."""
    # One after another: all characters at once would take 90 MB.
    letters = np.fromiter((chr(code).isalnum() for code in range(0x110000)), bool, 0x110000)
    classes = np.where(letters, LETTER, SEPARATOR).astype(np.uint8)
    classes[ord("_")] = LETTER
    others = np.flatnonzero(~letters)
    others = others[(others < 0x20000) | (others >= 0xE0000)]
    marks = np.fromiter((category(chr(code))[0] == "M" for code in others), bool, len(others))
    classes[others[marks]] = MARK
    classes[list(_JOINERS)] = MARK
    for first, last in _UNSPACED:
        block = classes[first : last + 1]
        block[block == LETTER] = IDEOGRAPH
    return classes
