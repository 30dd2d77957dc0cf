"""The group of columns made of character n-grams within words, the ends of a word marked by a space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from longtail.kernels import kernel
from longtail.text.config import TextConfig
from longtail.text.counting import Counts, Tally, count
from longtail.text.distinct import distinct_words
from longtail.text.lexicon import Lexicon
from longtail.text.tokens import Spans, Tokens, hash_span
from longtail.text.weighting import Weights, choose_columns


@dataclass(frozen=True, slots=True)
class NumberedWords:
    """Which word each token of the documents is, and the numbers of the n-grams in each of these words."""

    documents: np.ndarray
    which: np.ndarray
    words: np.ndarray
    ngrams: np.ndarray


class CharGroup:
    """Counts character n-grams, and knows their columns once ``choose`` has been called."""

    def __init__(self, config: TextConfig, lexicon: Lexicon | None = None) -> None:
        self.config = config
        self.lexicon = lexicon or Lexicon()
        self.weights: Weights

    def number(self, tokens: Tokens, *, grow: bool) -> NumberedWords:
        """The different words of the documents and their known n-grams; ``grow`` makes new n-grams known."""
        which, words = distinct_words(tokens)
        spans, indptr = _spans_of_ngrams(words, *self.lengths)
        ngrams = self.lexicon.add(spans) if grow else self.lexicon.find(spans)
        return NumberedWords(tokens.indptr, which, indptr, ngrams)

    def count(self, numbered: NumberedWords) -> Counts:
        """How often each n-gram is in each document: the counts of its words, times the n-grams of each word."""
        n_documents, n_words = len(numbered.documents) - 1, len(numbered.words) - 1
        if n_documents == 1:
            # One document at a time (online prediction): the n-grams of its words in a row, no matrices.
            bounds = zip(numbered.words[numbered.which], numbered.words[numbered.which + 1], strict=True)
            every = np.concatenate(
                [np.zeros(0, np.int32), *(numbered.ngrams[start:stop] for start, stop in bounds)]
            )
            return count(np.array([0, len(every)]), every[np.newaxis])
        n_ngrams = int(numbered.ngrams.max(initial=-1)) + 1
        words = count(numbered.documents, numbered.which[np.newaxis])
        ngrams = count(numbered.words, numbered.ngrams[np.newaxis])
        rows = csr_array(
            (words.counts, words.numbers, words.indptr), shape=(n_documents, n_words)
        ) @ csr_array((ngrams.counts, ngrams.numbers, ngrams.indptr), shape=(n_words, n_ngrams))
        rows.sort_indices()
        return Counts(rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data)

    def sizes(self) -> tuple[int, int]:
        """How many n-grams are known; there are no n-grams of n-grams."""
        return len(self.lexicon), 0

    def choose(self, tally: Tally) -> Weights:
        """Choose the columns and forget all other n-grams; returns the weights under the old numbers."""
        before = choose_columns(tally, np.zeros(0, np.int8), 1, self.config)
        kept = np.flatnonzero(before.columns >= 0)
        self.lexicon = self.lexicon.take(kept)
        self.weights = before.take(kept, np.zeros(0, np.int64))
        return before

    def terms(self) -> list[str]:
        """The n-gram of each column."""
        every = self.lexicon.spelling.to_list()
        return [every[number] for number in self._by_column.tolist()]

    def term(self, column: int) -> str:
        """The n-gram of one column."""
        return self.lexicon.spelling[int(self._by_column[column])]

    @cached_property
    def _by_column(self) -> np.ndarray:
        return self.weights.terms_by_column()

    @property
    def lengths(self) -> tuple[int, int]:
        """The shortest and the longest n-gram."""
        ngrams = self.config.char_ngrams
        assert isinstance(ngrams, tuple), "auto is decided before a group is made"
        return ngrams

    def arrays(self) -> dict[str, np.ndarray]:
        """What has to be saved."""
        return {**self.lexicon.arrays("characters"), **self.weights.arrays()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], config: TextConfig) -> CharGroup:
        """What ``arrays`` gave."""
        group = cls(config, Lexicon.from_arrays(arrays, "characters"))
        group.weights = Weights.from_arrays(arrays, len(group.lexicon), np.zeros(0, np.int8), config)
        return group


def _spans_of_ngrams(words: Spans, shortest: int, longest: int) -> tuple[Spans, np.ndarray]:
    padded, starts, lengths, hashes, indptr = ngrams_of_words(
        words.codes, words.starts, words.lengths, shortest, longest
    )
    return Spans(padded, starts, lengths, hashes), indptr


@kernel
def ngrams_of_words(
    codes: np.ndarray, word_starts: np.ndarray, word_lengths: np.ndarray, shortest: int, longest: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The n-grams of each word between two spaces; a word shorter than an n-gram is one n-gram, counted once."""
    n_words = len(word_starts)
    indptr = np.zeros(n_words + 1, np.int64)
    for w in range(n_words):
        size = word_lengths[w] + 2
        total = 0
        for length in range(shortest, longest + 1):
            total += max(size - length + 1, 1)
            if length >= size:
                break
        indptr[w + 1] = indptr[w] + total
    padded = np.full(word_lengths.astype(np.int64).sum() + 2 * n_words, ord(" "), np.uint32)
    starts = np.empty(indptr[-1], np.int64)
    lengths = np.empty(indptr[-1], np.int32)
    hashes = np.empty(indptr[-1], np.uint64)
    first = 0
    at = 0
    for w in range(n_words):
        size = word_lengths[w] + 2
        for i in range(word_lengths[w]):
            padded[first + 1 + i] = codes[word_starts[w] + i]
        for length in range(shortest, longest + 1):
            width = min(length, size)
            for offset in range(size - width + 1):
                starts[at] = first + offset
                lengths[at] = width
                hashes[at] = hash_span(padded, first + offset, first + offset + width)
                at += 1
            if length >= size:
                break
        first += size
    return padded, starts, lengths, hashes, indptr
