"""n-grams of tokens, numbered without being spelled: each is the number of its prefix and of its last token."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from longtail.errors import ModelIntegrityError
from longtail.kernels import kernel
from longtail.storage.checks import named, vector, within
from longtail.text.hash_table import NO_KEY, HashTable

FIRST_NGRAM = 1 << 30
"""n-grams of two and more tokens are numbered from here on; single tokens lie below."""

_HALF = np.uint64(32)


class Ngrams:
    """The n-grams of up to ``longest`` tokens; ``orders[i]`` is the length of n-gram ``FIRST_NGRAM + i``."""

    def __init__(
        self, longest: int, table: HashTable | None = None, orders: np.ndarray | None = None
    ) -> None:
        self.longest = longest
        self.table = table or HashTable()
        self.orders = np.zeros(0, np.int8) if orders is None else orders

    def numbers(self, indptr: np.ndarray, tokens: np.ndarray, *, grow: bool) -> np.ndarray:
        """The number of the n-gram of each length that starts at each token, -1 where there is none.

        Shapes: ``tokens`` int32[n] with -1 for unknown ones, which break an n-gram; the result int32[longest, n].
        """
        ngrams = np.empty((self.longest, len(tokens)), np.int32)
        ngrams[0] = tokens
        for order in range(2, self.longest + 1):
            keys = _ngram_keys(indptr, ngrams[order - 2], tokens, order)
            if grow:
                found, firsts = self.table.add(keys)
                self.orders = np.concatenate([self.orders, np.full(len(firsts), order, np.int8)])
            else:
                found = self.table.find(keys)
            ngrams[order - 1] = np.where(found >= 0, found + np.int32(FIRST_NGRAM), np.int32(-1))
        return ngrams

    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """The number of each n-gram's prefix and of its last token."""
        keys = self.table.dense_keys()
        return (keys >> _HALF).astype(np.int64), (keys & np.uint64(0xFFFF_FFFF)).astype(np.int64)

    def prune(self, used: np.ndarray, n_tokens: int) -> tuple[np.ndarray, np.ndarray, Ngrams]:
        """Keep the terms in ``used`` (tokens, then n-grams; bool) and all that they are built of.

        Returns which tokens stay, which n-grams stay, and the n-grams renumbered for the tokens that stay.
        """
        prefixes, lasts = self.parts()
        keep_tokens, keep_ngrams = used[:n_tokens].copy(), used[n_tokens:].copy()
        for order in range(self.longest, 1, -1):
            at = np.flatnonzero(keep_ngrams & (self.orders == order))
            keep_tokens[lasts[at]] = True
            (keep_tokens if order == 2 else keep_ngrams)[
                prefixes[at] - (0 if order == 2 else FIRST_NGRAM)
            ] = True
        token_of = np.cumsum(keep_tokens, dtype=np.int64) - 1
        ngram_of = np.cumsum(keep_ngrams, dtype=np.int64) - 1 + FIRST_NGRAM
        stay = np.flatnonzero(keep_ngrams)
        prefixes, lasts, pairs = prefixes[stay], token_of[lasts[stay]], self.orders[stay] == 2
        prefixes[pairs] = token_of[prefixes[pairs]]
        prefixes[~pairs] = ngram_of[prefixes[~pairs] - FIRST_NGRAM]
        keys = (prefixes.astype(np.uint64) << _HALF) | lasts.astype(np.uint64)
        return np.flatnonzero(keep_tokens), stay, Ngrams(self.longest, HashTable(keys), self.orders[stay])

    def spell(self, tokens: list[str]) -> list[str]:
        """All n-grams as strings, tokens joined by a space."""
        prefixes, lasts = self.parts()
        spelled = [""] * len(lasts)
        for order in range(2, self.longest + 1):
            for i in np.flatnonzero(self.orders == order).tolist():
                before = tokens[prefixes[i]] if order == 2 else spelled[prefixes[i] - FIRST_NGRAM]
                spelled[i] = f"{before} {tokens[lasts[i]]}"
        return spelled

    def arrays(self) -> dict[str, np.ndarray]:
        """What has to be saved."""
        return {"runs.keys": self.table.dense_keys(), "runs.orders": self.orders}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], longest: int, n_tokens: int) -> Ngrams:
        """What ``arrays`` gave, on that many tokens."""
        table = HashTable.from_arrays(arrays, "runs.keys")
        orders = named(arrays, "runs.orders", "'runs.orders'")
        vector(orders, np.int8, "'runs.orders'", size=len(table))
        within(orders, 2, longest + 1, "'runs.orders'")
        ngrams = cls(longest, table, orders)
        ngrams._check_parts(n_tokens)
        return ngrams

    def _check_parts(self, n_tokens: int) -> None:
        """An n-gram is a token after a token, or after an n-gram that is shorter by one: so spelling one ends."""
        prefixes, lasts = self.parts()
        pairs = self.orders == 2
        within(lasts, 0, n_tokens, "the last tokens in 'runs.keys'")
        within(prefixes[pairs], 0, n_tokens, "the first tokens in 'runs.keys'")
        longer = within(prefixes[~pairs] - FIRST_NGRAM, 0, len(lasts), "the prefixes in 'runs.keys'")
        if bool((self.orders[longer] != self.orders[~pairs] - 1).any()):
            raise ModelIntegrityError("'runs.keys' has an n-gram whose prefix is not shorter by one token")


@kernel
def ngram_key(prefix: int, last: int) -> np.uint64:
    """The table key of an n-gram, or NO_KEY if a part of it is unknown."""
    if prefix < 0 or last < 0:
        return NO_KEY
    return (np.uint64(prefix) << _HALF) | np.uint64(last)


@kernel
def _ngram_keys(indptr: np.ndarray, prefixes: np.ndarray, tokens: np.ndarray, order: int) -> np.ndarray:
    keys = np.empty(len(tokens), np.uint64)
    for d in range(len(indptr) - 1):
        for i in range(indptr[d], indptr[d + 1]):
            last = i + order - 1
            keys[i] = ngram_key(prefixes[i], tokens[last]) if last < indptr[d + 1] else NO_KEY
    return keys
