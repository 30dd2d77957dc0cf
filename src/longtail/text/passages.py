"""Texts read once for all that sentences are needed for: sentences, their words, and names, at the same places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from longtail.normalising import compatible
from longtail.text.codepoints import CodePoints, encode
from longtail.text.entities import Names, find_names
from longtail.text.sentences import Sentences, split_sentences
from longtail.text.tokens import Tokens, split


@dataclass(frozen=True, slots=True)
class Passages:
    """Some texts.

    Attributes:
        points: their characters, compatible forms as one, with capitals.
        sentences: their sentences.
        tokens: their words in small letters, as those of the text features.
        sentence_words: int64 [sentences + 1]: where the words of each sentence begin.
        names: capitalised words in a row.
    """

    points: CodePoints
    sentences: Sentences
    tokens: Tokens
    sentence_words: np.ndarray
    names: Names

    @property
    def sentence_of_words(self) -> np.ndarray:
        """The sentence of each word, int64."""
        return np.repeat(np.arange(len(self.sentences)), np.diff(self.sentence_words))

    @property
    def document_of_words(self) -> np.ndarray:
        """The text of each word, int64."""
        return np.repeat(np.arange(len(self.tokens.indptr) - 1), np.diff(self.tokens.indptr))

    def spell(self) -> list[str]:
        """The sentences as strings."""
        return self.sentences.spell(self.points.codes)


def read_passages(texts: Sequence[str]) -> Passages:
    """Split texts into sentences and words."""
    prepared = [text if text.isascii() else compatible(text) for text in texts]
    points = encode(prepared)
    sentences = split_sentences(points)
    tokens = split(encode([lowered(text) for text in prepared]))
    # Every word is in a sentence, as what has a word is one.
    begins = np.searchsorted(tokens.spans.starts, sentences.starts)
    sentence_words = np.append(begins, len(tokens.spans.starts)).astype(np.int64)
    return Passages(
        points, sentences, tokens, sentence_words, find_names(points.codes, tokens, sentence_words)
    )


def lowered(text: str) -> str:
    """The text in small letters, each at the place of its capital."""
    small = text.lower()
    # Only a capital I with a dot becomes longer, by that dot.
    return small if len(small) == len(text) else text.replace("\u0130", "i").lower()
