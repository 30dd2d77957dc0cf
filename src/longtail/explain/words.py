"""The words of a text as it was given, each a span of characters, and which of them are the same word."""

from __future__ import annotations

import numpy as np

from longtail.text.codepoints import encode
from longtail.text.sentences import split_sentences
from longtail.text.tokens import split


def word_spans(text: str) -> np.ndarray:
    """Where words begin and end, int64 [n, 2]."""
    spans = split(encode([text])).spans
    starts = spans.starts.astype(np.int64)
    return np.stack([starts, starts + spans.lengths], axis=1)


def word_types(text: str, spans: np.ndarray) -> np.ndarray:
    """The number of each word; words that differ in capitals alone have the same, int64 [n]."""
    known: dict[str, int] = {}
    return np.array(
        [known.setdefault(text[start:end].casefold(), len(known)) for start, end in spans.tolist()], np.int64
    )


def segments(text: str, spans: np.ndarray, most: int) -> np.ndarray:
    """The number of the sentence of each word, int64 [n]; neighbours are joined if there are more than ``most``."""
    sentences = split_sentences(encode([text]))
    number = np.maximum(np.searchsorted(sentences.starts, spans[:, 0], side="right") - 1, 0)
    _, number = np.unique(number, return_inverse=True)
    n = int(number.max(initial=-1)) + 1
    return np.asarray(number * most // n if n > most else number, np.int64)
