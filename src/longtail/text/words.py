"""Words as numbers, optionally by their stem; a word is stemmed once, not once per occurrence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np

from longtail.errors import ModelIntegrityError
from longtail.storage.checks import named, vector, within
from longtail.text.codepoints import encode
from longtail.text.hash_table import HashTable
from longtail.text.lexicon import Lexicon
from longtail.text.stemming import stem_words
from longtail.text.strings import Strings
from longtail.text.tokens import Spans, Tokens, whole


class Words:
    """Numbers for words. With a stemmer, ``seen`` are the words met in training and ``stem_of`` their stems."""

    fixed: ClassVar[bool] = False
    """Words without a use may be forgotten."""

    def __init__(self, stem: str | None = None, lexicon: Lexicon | None = None) -> None:
        self.stem = stem
        self.lexicon = lexicon or Lexicon()
        self.seen = HashTable()
        self.stem_of = np.zeros(0, np.int32)

    def __len__(self) -> int:
        return len(self.lexicon)

    def numbers(self, tokens: Tokens, *, grow: bool) -> tuple[np.ndarray, np.ndarray]:
        """Where each document begins, and the number of each of its words: -1 if unknown."""
        if self.stem is None:
            spans = tokens.spans
            return tokens.indptr, self.lexicon.add(spans) if grow else self.lexicon.find(spans)
        return tokens.indptr, self._stems(self.stem, tokens.spans, grow)

    def spell(self) -> list[str]:
        """All words as strings."""
        return self.lexicon.spelling.to_list()

    def spell_one(self, number: int) -> str:
        """One word as a string."""
        return self.lexicon.spelling[number]

    def keep(self, which: np.ndarray) -> Self:
        """Only the chosen words; of the words seen in training, only those with a stem that is left."""
        kept = type(self)(self.stem, self.lexicon.take(which))
        new = np.full(len(self), -1, np.int32)
        new[which] = np.arange(len(which), dtype=np.int32)
        # Words whose stem was dropped stay known, or each occurrence would be stemmed in vain.
        kept.seen, kept.stem_of = self.seen, new[self.stem_of]
        return kept

    def _stems(self, language: str, spans: Spans, grow: bool) -> np.ndarray:
        if grow:
            words, firsts = self.seen.add(spans.hashes)
            self.stem_of = np.concatenate(
                [self.stem_of, self.lexicon.add(self._stemmed(language, spans.take(firsts)))]
            )
            return self.stem_of.take(words)
        words = self.seen.find(spans.hashes)
        unknown = np.flatnonzero(words < 0)
        numbers: np.ndarray = np.where(words < 0, np.int32(-1), self.stem_of[words])
        if len(unknown):
            table = HashTable()
            which, firsts = table.add(spans.hashes[unknown])
            numbers[unknown] = self.lexicon.find(self._stemmed(language, spans.take(unknown[firsts])))[which]
        return numbers

    @staticmethod
    def _stemmed(language: str, words: Spans) -> Spans:
        spelled = Strings()
        spelled.append(words)
        return whole(encode(stem_words(language, spelled.to_list())))

    def arrays(self) -> dict[str, np.ndarray]:
        """What has to be saved."""
        return {
            **self.lexicon.arrays("words"),
            "seen.keys": self.seen.dense_keys(),
            "seen.stems": self.stem_of,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], stem: str | None) -> Words:
        """What ``arrays`` gave."""
        words = cls(stem, Lexicon.from_arrays(arrays, "words"))
        words.seen = HashTable.from_arrays(arrays, "seen.keys")
        stems = named(arrays, "seen.stems", "'seen.stems'")
        vector(stems, np.int32, "'seen.stems'", size=len(words.seen))
        words.stem_of = within(stems, -1, len(words), "'seen.stems'")
        if stem is not None and not np.bincount(stems[stems >= 0], minlength=len(words)).all():
            raise ModelIntegrityError("'seen.stems' must have each stem, as each is of a word that was seen")
        return words
