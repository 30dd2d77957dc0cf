"""What every group of columns can do: number what it knows, count it, and choose what becomes a column."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from longtail.text.counting import Counts, Tally
from longtail.text.tokens import Tokens
from longtail.text.weighting import Weights


class ColumnGroup(Protocol):
    """One kind of term; what ``number`` gives is for ``count`` of the same group alone."""

    weights: Weights

    def number(self, tokens: Tokens, *, grow: bool) -> Any:
        """Look up the terms of documents; with ``grow`` new terms become known, in their order."""

    def count(self, numbered: Any) -> Counts:
        """How often each term is in each document; safe to call from several threads."""

    def sizes(self) -> tuple[int, int]:
        """How many tokens and how many n-grams are known."""

    def choose(self, tally: Tally) -> Weights:
        """Choose the columns and forget all other terms; returns the weights under the old numbers."""

    def terms(self) -> list[str]:
        """The term of each column."""

    def term(self, column: int) -> str:
        """The term of one column."""

    def arrays(self) -> dict[str, np.ndarray]:
        """What has to be saved."""
