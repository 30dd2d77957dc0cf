"""What the columns of a text add to a score, shared by the words of the text."""

from __future__ import annotations

import numpy as np

from longtail.explain.asked import Asked
from longtail.explain.explanation import Word, words_of
from longtail.text.occurrences import Occurrences
from longtail.text.tfidf import TfidfFeatures


class TermWords:
    """The words of the text that was asked about, for a vocabulary."""

    def __init__(self, asked: Asked, features: TfidfFeatures) -> None:
        self.text = asked.text
        part, self.offset = asked.read
        if features.config.title_share is None:
            self.occurrences = Occurrences.of(features, part)
        else:
            self.occurrences = Occurrences.of_fields(features, asked.document.title, asked.document.text)

    def __call__(self, columns: np.ndarray, values: np.ndarray) -> list[Word]:
        """The words with what they add, for what columns (rising) add; the sums are the same."""
        return words_of(
            self.text, self.occurrences.spans, self.occurrences.spread(columns, values), self.offset
        )
