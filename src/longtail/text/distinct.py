"""The different words of a chunk of documents: what depends on a word alone is computed once for each."""

from __future__ import annotations

import numpy as np

from longtail.text.hash_table import HashTable
from longtail.text.tokens import Spans, Tokens


def distinct_words(tokens: Tokens) -> tuple[np.ndarray, Spans]:
    """Which of the different words each token is (int32), and those words in order of first appearance."""
    which, firsts = HashTable().add(tokens.spans.hashes)
    return which, tokens.spans.take(firsts)
