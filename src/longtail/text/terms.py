"""The group of columns made of tokens and n-grams of tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol, Self

import numpy as np

from longtail.text.config import TextConfig
from longtail.text.counting import Counts, Tally, count
from longtail.text.ngrams import FIRST_NGRAM, Ngrams
from longtail.text.tokens import Tokens
from longtail.text.weighting import Weights, choose_columns


class TokenNumbers(Protocol):
    """Something that gives the tokens of documents numbers: words, or pieces of words."""

    fixed: ClassVar[bool]
    """Whether no token may be forgotten."""

    def __len__(self) -> int:
        """How many tokens have a number."""

    def numbers(self, tokens: Tokens, *, grow: bool) -> tuple[np.ndarray, np.ndarray]:
        """Where each document begins, and the number of each of its tokens: -1 if unknown."""

    def spell(self) -> list[str]:
        """All tokens as strings."""

    def spell_one(self, number: int) -> str:
        """One token as a string."""

    def keep(self, which: np.ndarray) -> Self:
        """Forget all tokens but the chosen ones, which are renumbered."""

    def arrays(self) -> dict[str, np.ndarray]:
        """What has to be saved."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """The numbers of the n-grams of each length (int32[orders, tokens]) that start at each token of documents."""

    indptr: np.ndarray
    ngrams: np.ndarray


class TermGroup:
    """Counts tokens and n-grams of tokens, and knows their columns once ``choose`` has been called."""

    def __init__(self, tokens: TokenNumbers, config: TextConfig) -> None:
        self.tokens = tokens
        self.ngrams = Ngrams(config.ngrams[1])
        self.config = config
        self.weights: Weights

    def number(self, tokens: Tokens, *, grow: bool) -> Numbered:
        """The known terms of each document, in the order of the text; ``grow`` makes new terms known."""
        indptr, numbers = self.tokens.numbers(tokens, grow=grow)
        return Numbered(indptr, self.ngrams.numbers(indptr, numbers, grow=grow))

    def count(self, numbered: Numbered) -> Counts:
        """How often each term is in each document."""
        return count(numbered.indptr, numbered.ngrams)

    def sizes(self) -> tuple[int, int]:
        """How many tokens and how many n-grams are known."""
        return len(self.tokens), len(self.ngrams.table)

    def choose(self, tally: Tally) -> Weights:
        """Choose the columns and forget all other terms; returns the weights under the old numbers."""
        before = choose_columns(tally, self.ngrams.orders, self.config.ngrams[0], self.config)
        used = before.columns >= 0
        used[: before.n_tokens] |= self.tokens.fixed
        tokens, ngrams, self.ngrams = self.ngrams.prune(used, before.n_tokens)
        self.tokens = self.tokens.keep(tokens)
        self.weights = before.take(tokens, ngrams)
        return before

    def terms(self) -> list[str]:
        """The term of each column."""
        tokens = self.tokens.spell()
        every = tokens + self.ngrams.spell(tokens)
        return [every[number] for number in self._by_column.tolist()]

    def term(self, column: int) -> str:
        """The term of one column, without spelling all others."""
        number = int(self._by_column[column])
        n_tokens = len(self.tokens)
        return self._spell(number if number < n_tokens else number - n_tokens + FIRST_NGRAM)

    def _spell(self, number: int) -> str:
        if number < FIRST_NGRAM:
            return self.tokens.spell_one(number)
        key = int(self.ngrams.table.keys[number - FIRST_NGRAM])
        return f"{self._spell(key >> 32)} {self.tokens.spell_one(key & 0xFFFF_FFFF)}"

    @cached_property
    def _by_column(self) -> np.ndarray:
        return self.weights.terms_by_column()

    def arrays(self) -> dict[str, np.ndarray]:
        """What has to be saved."""
        return {**self.tokens.arrays(), **self.ngrams.arrays(), **self.weights.arrays()}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, np.ndarray], tokens: TokenNumbers, config: TextConfig
    ) -> TermGroup:
        """What ``arrays`` gave, on tokens that are loaded already."""
        group = cls(tokens, config)
        group.ngrams = Ngrams.from_arrays(arrays, config.ngrams[1], len(tokens))
        group.weights = Weights.from_arrays(arrays, len(tokens), group.ngrams.orders, config)
        return group
