"""In which words of a text its columns are: what a column adds to a score is shared by its occurrences.

Each occurrence of a term has an equal part of its column. The tokens of an n-gram share their part equally, and so
do the pieces of words, each for the word that it is in; the part of a character n-gram is its word's. So nothing is
lost: what all columns of a text add up to is what all words add up to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from longtail.text.alignment import origins
from longtail.text.char_ngrams import CharGroup
from longtail.text.group import ColumnGroup
from longtail.text.ngrams import FIRST_NGRAM
from longtail.text.terms import TermGroup
from longtail.text.tfidf import TfidfFeatures
from longtail.text.tokenise import tokenise
from longtail.text.tokens import Tokens
from longtail.text.weighting import Weights


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """The words of one text, and the parts that its columns have in them.

    Shapes:
        spans int64 [words, 2] (characters of the text as given), columns int64 [parts] (rising), words int64
        [parts], shares float64 [parts] (of one column they add up to 1)
    """

    spans: np.ndarray
    columns: np.ndarray
    words: np.ndarray
    shares: np.ndarray

    @classmethod
    def of(cls, features: TfidfFeatures, text: str) -> Occurrences:
        """Those of a text."""
        spans, *parts = _parts_of(features, text, features.groups)
        return cls(spans, *_normalised(*parts))

    @classmethod
    def of_fields(cls, features: TfidfFeatures, title: str, text: str) -> Occurrences:
        """Those of a title and a text, at their places in both joined by a newline.

        What a column of both adds is shared by title and text as their rows weigh in it.
        """
        start = len(title) + 1 if title and text else len(title)
        found, n_words = [], 0
        for field, offset in zip(features.fields_of(title, text), (0, start), strict=True):
            spans, columns, words, shares = _parts_of(features, field.text, field.groups)
            columns, words, shares = _normalised(columns, words, shares)
            weights = np.zeros(features.n_columns, np.float32)
            weights[field.row.indices] = field.weight * field.row.data
            found.append((spans + offset, columns, words + n_words, shares * weights[columns]))
            n_words += len(spans)
        spans, columns, words, shares = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        return cls(spans, *_normalised(columns, words, shares))

    def spread(self, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        """What words add up to [words], for values of some of the text's columns (rising)."""
        at = np.searchsorted(columns, self.columns)
        at[at == len(columns)] = 0
        there = columns[at] == self.columns if len(columns) else np.zeros(len(at), bool)
        parts = self.shares[there] * np.asarray(values, np.float64)[at[there]]
        return np.bincount(self.words[there], parts, minlength=len(self.spans))


_Parts = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Columns (-1: none), words, and the part of an occurrence that is the word's."""


def _parts_of(
    features: TfidfFeatures, text: str, groups: Sequence[ColumnGroup]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The spans of the words of a text, and the parts of occurrences of columns of these groups."""
    config = features.config
    tokens = tokenise([text], config)
    spans = _spans(tokens, origins(text, lowercase=config.lowercase, nfkc=config.nfkc))
    found, first = [], 0
    for group in groups:
        if isinstance(group, TermGroup):
            found += _of_terms(group, tokens, first)
        elif isinstance(group, CharGroup):
            found.append(_of_characters(group, tokens, first))
        first += len(group.weights.idf)
    columns, words, parts = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    return spans, columns, words, parts


def _normalised(columns: np.ndarray, words: np.ndarray, parts: np.ndarray) -> _Parts:
    """Known columns, rising, whose parts add up to 1."""
    known = (columns >= 0) & (parts > 0)
    columns, words, parts = columns[known], words[known], parts[known]
    order = np.argsort(columns, kind="stable")
    columns, words, parts = columns[order], words[order], parts[order]
    _, places = np.unique(columns, return_inverse=True)
    return columns, words, parts / np.bincount(places, parts)[places] if len(parts) else parts


def _spans(tokens: Tokens, origin: np.ndarray) -> np.ndarray:
    starts = tokens.spans.starts.astype(np.int64)
    last = starts + tokens.spans.lengths - 1
    return np.stack([origin[starts, 0], origin[last, 1]], axis=1)


def _of_terms(group: TermGroup, tokens: Tokens, first: int) -> list[_Parts]:
    n_words = len(tokens.spans.starts)
    # Each word as a document of its own: then it is known which pieces are whose.
    indptr, numbers = group.tokens.numbers(Tokens(np.arange(n_words + 1), tokens.spans), grow=False)
    word_of = np.repeat(np.arange(n_words), np.diff(indptr))
    ngrams = group.ngrams.numbers(np.array([0, len(numbers)]), numbers, grow=False)
    found = []
    for order, row in enumerate(ngrams):
        # The last ones would go beyond the text.
        starts = np.arange(max(len(row) - order, 0))
        columns = _columns(group.weights, row[starts], first)
        found += [
            (columns, word_of[starts + shift], np.full(len(starts), 1 / (order + 1)))
            for shift in range(order + 1)
        ]
    return found


def _of_characters(group: CharGroup, tokens: Tokens, first: int) -> _Parts:
    numbered = group.number(tokens, grow=False)
    sizes = np.diff(numbered.words)[numbered.which]
    words = np.repeat(np.arange(len(sizes)), sizes)
    starts = np.cumsum(sizes) - sizes
    places = np.arange(len(words)) - starts[words] + numbered.words[numbered.which][words]
    columns = _columns(group.weights, numbered.ngrams[places], first)
    return columns, words, np.ones(len(words))


def _columns(weights: Weights, numbers: np.ndarray, first: int) -> np.ndarray:
    """The column of each term number among all columns, -1 for none."""
    places = np.where(numbers < FIRST_NGRAM, numbers, numbers - FIRST_NGRAM + weights.n_tokens)
    columns = weights.columns[np.where(numbers < 0, 0, places)].astype(np.int64)
    return np.where((numbers < 0) | (columns < 0), -1, columns + first)
