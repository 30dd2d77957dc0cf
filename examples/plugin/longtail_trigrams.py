"""A system for longtail in another package: texts as counts of hashed character trigrams."""

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from longtail.systems.text_vectors import TextVectors


class Trigrams(TextVectors):
    """Compares the character trigrams of a document with those of the labels and their training documents."""

    name = "trigrams"

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """Counts of trigrams in 512 columns."""
        rows = np.zeros((len(texts), 512), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for start in range(len(text) - 2):
                row[crc32(text[start : start + 3].lower().encode()) % 512] += 1
        return rows
