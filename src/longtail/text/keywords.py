"""Keywords of texts: the strongest words by TextRank, and the names (named entities) that are mentioned most.

Words are those of the text features. Which ones can be keywords is learned from the corpus, so that it works in any
language: those in a large share of the documents cannot, nor can very short ones and those without a letter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from scipy.sparse import csr_array

from longtail.graph.textrank import strongest_words
from longtail.storage.checks import named, vector
from longtail.text.codepoints import waves
from longtail.text.config import TextConfig
from longtail.text.counting import Tally, count
from longtail.text.entities import Names
from longtail.text.lexicon import Lexicon
from longtail.text.passages import Passages, read_passages
from longtail.text.recogniser import Recogniser
from longtail.text.terms import TermGroup
from longtail.text.tokens import Spans
from longtail.text.words import Words
from longtail.threads import run_all

COMMON_AT_LEAST = 20
"""A word in fewer documents is not common, however few documents there are."""
CAPITALS = "capitals"
"""The recogniser that is a rule of thumb: capitalised words within a sentence."""
SHORTEST = 3
"""Bytes of a keyword at least, as UTF-8: three Latin letters, two Greek or Arabic ones, one ideograph."""


class KeywordSettings(Protocol):
    """How keywords are chosen."""

    @property
    def keywords(self) -> int:
        """Words of a document, at most."""

    @property
    def entities(self) -> int:
        """Names of a document, at most."""

    @property
    def recogniser(self) -> str:
        """How names are found: ``CAPITALS`` or a spaCy model."""

    @property
    def window(self) -> int:
        """How many words in a row are neighbours."""

    @property
    def damping(self) -> float:
        """How often TextRank follows an edge."""

    @property
    def common_above(self) -> float:
        """The share of documents above which a word cannot be a keyword."""

    @property
    def min_documents(self) -> int:
        """Words and names in fewer documents are unknown."""

    @property
    def max_words(self) -> int:
        """How many words are known, at most."""

    @property
    def stem(self) -> str | None:
        """The language of the stemmer."""


@dataclass(frozen=True, slots=True)
class Keywords:
    """Keywords of documents and where they are.

    Attributes:
        documents: int64 [n + 1]: where the keywords of each document begin.
        numbers: int32 [K]: the words by their strength, then the names.
        keyword_of, sentence_of: int64 [P]: which keyword (a place in ``numbers``) is in which sentence.
    """

    documents: np.ndarray
    numbers: np.ndarray
    keyword_of: np.ndarray
    sentence_of: np.ndarray


class KeywordFinder:
    """Knows the words and names of a corpus; numbers below ``n_words`` are words, those behind them names."""

    def __init__(
        self,
        settings: KeywordSettings,
        terms: TermGroup,
        eligible: np.ndarray,
        names: Lexicon,
        recogniser: Recogniser | None = None,
    ) -> None:
        self.settings = settings
        self.terms = terms
        self.eligible = eligible
        self.names = names
        self.recogniser = recogniser

    @property
    def n_words(self) -> int:
        """How many words are known."""
        return len(self.terms.tokens)

    @classmethod
    def learn(cls, texts: Sequence[str], settings: KeywordSettings) -> Self:
        """Learn words and names, and which of them can be keywords."""
        config = _text_config(settings)
        terms = TermGroup(Words(settings.stem), config)
        recogniser = _recogniser(settings)
        tally, names = Tally(), _NameTally()
        for wave in waves(texts):
            for passages in run_all(read_passages, [texts[part] for part in wave]):
                # New words get their numbers in the order of the documents, so this is for one thread.
                numbered = terms.number(passages.tokens, grow=True)
                tally.add(terms.count(numbered), *terms.sizes())
                if settings.entities:
                    names.add(passages, _names(passages, recogniser, keep=True))
        frequencies, _ = tally.joined()
        used = terms.choose(tally).columns >= 0
        common = max(settings.common_above * tally.documents, COMMON_AT_LEAST)
        eligible = _can_be_keywords(terms.tokens.spell()) & (frequencies[used] <= common)
        return cls(settings, terms, eligible, names.chosen(settings.min_documents, common), recogniser)

    def numbers(self, passages: Passages) -> np.ndarray:
        """The number of each word, -1 if it is unknown, int32."""
        return self.terms.tokens.numbers(passages.tokens, grow=False)[1]

    def find(self, passages: Passages, numbers: np.ndarray) -> Keywords:
        """The keywords of some texts, given the ``numbers`` of their words."""
        settings, n_all = self.settings, self.n_words + len(self.names)
        documents, sentences = passages.document_of_words, passages.sentence_of_words
        words = np.where((numbers >= 0) & self.eligible[numbers], numbers, np.int32(-1))
        starts, strong = strongest_words(
            passages.tokens.indptr,
            words,
            sentences,
            self.n_words,
            keep=settings.keywords,
            window=settings.window,
            damping=settings.damping,
        )
        n = len(starts) - 1
        # A keyword of a document as one number, which sorts by document.
        keys = np.repeat(np.arange(n), np.diff(starts)) * n_all + strong
        known, at = self._mentions(passages, words)
        mentions = documents[at] * n_all + known
        keys = np.concatenate([keys, _most_frequent(mentions, n_all, settings.entities, keys)])
        keys = keys[np.argsort(keys // n_all, kind="stable")]

        places = np.flatnonzero(words >= 0)
        met = np.concatenate([documents[places] * n_all + words[places], mentions])
        order = np.argsort(keys)
        place = np.searchsorted(keys[order], met)
        inside = place < len(keys)
        inside[inside] = keys[order][place[inside]] == met[inside]
        where = np.concatenate([sentences[places], sentences[at]])
        return Keywords(
            np.searchsorted(keys // n_all, np.arange(n + 1)).astype(np.int64),
            (keys % n_all).astype(np.int32),
            order[place[inside]],
            where[inside],
        )

    def sentence_rows(self, passages: Passages, numbers: np.ndarray) -> csr_array:
        """The TF-IDF of each sentence, rows of length one, float32 [sentences, words]."""
        return self.terms.weights.rows(count(passages.sentence_words, numbers[None, :]))

    def document_rows(self, passages: Passages, numbers: np.ndarray) -> csr_array:
        """The TF-IDF of each text, rows of length one, float32 [texts, words]."""
        return self.terms.weights.rows(count(passages.tokens.indptr, numbers[None, :]))

    def spell(self, number: int) -> str:
        """A keyword as a string."""
        if number < self.n_words:
            return self.terms.tokens.spell_one(number)
        return self.names.spelling[number - self.n_words]

    def arrays(self) -> dict[str, np.ndarray]:
        """What has to be saved."""
        return {**self.terms.arrays(), "eligible": self.eligible, **self.names.arrays("names")}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], settings: KeywordSettings) -> Self:
        """What ``arrays`` gave."""
        # Kernels are compiled for writable arrays; a read-only one would make them compile anew.
        arrays = {name: np.require(array, requirements=["C", "W", "A"]) for name, array in arrays.items()}
        words = Words.from_arrays(arrays, settings.stem)
        terms = TermGroup.from_arrays(arrays, words, _text_config(settings))
        eligible = vector(named(arrays, "eligible", "'eligible'"), np.bool_, "'eligible'", size=len(words))
        names = Lexicon.from_arrays(arrays, "names")
        return cls(settings, terms, eligible, names, _recogniser(settings))

    def _mentions(self, passages: Passages, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The number of each mention of a known name, and its first word."""
        if self.settings.entities == 0:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        names = _names(passages, self.recogniser)
        known = self.names.table.find(names.hashes).astype(np.int64)
        # A name of one word is that word.
        numbers = np.where(known >= 0, known + self.n_words, -1)
        numbers = np.where(names.sizes == 1, words[names.first], numbers)
        kept = numbers >= 0
        return numbers[kept], names.first[kept]


class _NameTally:
    """Names of several words, and in how many documents each one is."""

    def __init__(self) -> None:
        self.names = Lexicon()
        self.documents = np.zeros(0, np.int64)

    def add(self, passages: Passages, names: Names) -> None:
        """Take in more documents."""
        spans = passages.tokens.spans
        several = np.flatnonzero(names.sizes > 1)
        first = names.first[several]
        last = first + names.sizes[several] - 1
        starts = spans.starts[first]
        lengths = (spans.starts[last] + spans.lengths[last] - starts).astype(np.int32)
        numbers = self.names.add(Spans(passages.points.codes, starts, lengths, names.hashes[several]))
        size = len(self.names)
        pairs = np.unique(passages.document_of_words[first] * max(size, 1) + numbers)
        counts = np.bincount(pairs % max(size, 1), minlength=size)
        counts[: len(self.documents)] += self.documents
        self.documents = counts

    def chosen(self, at_least: int, at_most: float) -> Lexicon:
        """The names that are in enough documents and not in too many."""
        return self.names.take(np.flatnonzero((self.documents >= at_least) & (self.documents <= at_most)))


def _recogniser(settings: KeywordSettings) -> Recogniser | None:
    """None: the rule of thumb, or no names at all."""
    wanted = settings.entities > 0 and settings.recogniser != CAPITALS
    return Recogniser(settings.recogniser) if wanted else None


def _names(passages: Passages, recogniser: Recogniser | None, *, keep: bool = False) -> Names:
    return passages.names if recogniser is None else recogniser(passages, keep=keep)


def _text_config(settings: KeywordSettings) -> TextConfig:
    return TextConfig(
        stem=settings.stem,
        min_df=settings.min_documents,
        max_features=settings.max_words,
        sublinear_tf=True,
    )


def _can_be_keywords(words: list[str]) -> np.ndarray:
    """Which words have a letter and are not too short."""
    fits = (len(word.encode()) >= SHORTEST and any(map(str.isalpha, word)) for word in words)
    return np.fromiter(fits, np.bool_, len(words))


def _most_frequent(mentions: np.ndarray, n_all: int, keep: int, taken: np.ndarray) -> np.ndarray:
    """Of each document, the ``keep`` names mentioned most that are not ``taken``; of equal ones, the first."""
    keys, first, counts = np.unique(mentions, return_index=True, return_counts=True)
    free = ~np.isin(keys, taken)
    keys, first, counts = keys[free], first[free], counts[free]
    order = np.lexsort((first, -counts, keys // n_all))
    documents = keys[order] // n_all
    rank = np.arange(len(order)) - np.searchsorted(documents, documents)
    best: np.ndarray = keys[order[rank < keep]]
    return best
