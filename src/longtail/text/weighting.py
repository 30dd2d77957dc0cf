"""Which terms become columns, and the TF-IDF weights of rows of counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from longtail.errors import DataError, ModelIntegrityError
from longtail.kernels import kernel
from longtail.storage.checks import finite, named, vector
from longtail.text.config import TextConfig
from longtail.text.counting import Counts, Tally
from longtail.text.ngrams import FIRST_NGRAM
from longtail.text.stacking import narrow

MAX_IDF = 64
"""More than the logarithm of any number of documents."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The column of each term and the weight of each column.

    Columns are ordered by the length of the n-gram and then by first appearance: within one length a larger term
    number has a larger column, so rows of counts, sorted by number, give sorted columns without sorting again.

    Shapes: ``columns`` int32[tokens + n-grams], -1 for terms left out; ``bounds`` int64[orders + 1], where the
    columns of each length begin; ``idf`` float32[columns].
    """

    columns: np.ndarray
    n_tokens: int
    bounds: np.ndarray
    idf: np.ndarray
    sublinear: bool
    l2: bool

    def rows(self, counts: Counts) -> csr_array:
        """The TF-IDF rows of documents, a ``csr_array`` of float32 with sorted columns."""
        sizes = _row_sizes(counts.indptr, counts.numbers, self.columns, self.n_tokens)
        indptr = np.zeros(len(sizes) + 1, np.int64)
        np.cumsum(sizes, out=indptr[1:])
        columns, data = _fill_rows(counts.indptr, counts.numbers, counts.counts, indptr, *self.arguments())
        return csr_array((data, columns, narrow(indptr)), shape=(len(sizes), len(self.idf)))

    def arguments(self) -> tuple[Any, ...]:
        """What ``weigh_row`` takes after the row."""
        return self.columns, self.n_tokens, self.bounds, self.idf, self.sublinear, self.l2

    def take(self, tokens: np.ndarray, ngrams: np.ndarray) -> Weights:
        """For terms of which only the given tokens and n-grams are left; all with a column are among them."""
        kept = np.concatenate([tokens, ngrams + self.n_tokens])
        return replace(self, columns=self.columns[kept], n_tokens=len(tokens))

    def terms_by_column(self) -> np.ndarray:
        """The term (tokens counted first, then n-grams) of each column."""
        used = np.flatnonzero(self.columns >= 0)
        return used[np.argsort(self.columns[used])]

    def arrays(self) -> dict[str, np.ndarray]:
        """What has to be saved."""
        return {"columns": self.columns, "bounds": self.bounds, "idf": self.idf}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, np.ndarray], n_tokens: int, orders: np.ndarray, config: TextConfig
    ) -> Weights:
        """What ``arrays`` gave, for that many tokens and for n-grams of these lengths."""
        columns = named(arrays, "columns", "'columns'")
        bounds = named(arrays, "bounds", "'bounds'")
        idf = named(arrays, "idf", "'idf'")
        orders = np.concatenate([np.ones(n_tokens, np.int8), orders])
        kept = _by_length(vector(columns, np.int32, "'columns'", size=len(orders)) >= 0, orders)
        if len(kept) == 0:
            raise ModelIntegrityError("'columns' has no term")
        # Which terms have a column says already which column that is, and where each length begins.
        expected_columns, expected_bounds = _layout(kept, orders)
        if not np.array_equal(columns, expected_columns):
            raise ModelIntegrityError("'columns' are not in the order of length and first appearance")
        if not np.array_equal(vector(bounds, np.int64, "'bounds'"), expected_bounds):
            raise ModelIntegrityError("'bounds' is not where the columns of each length begin")
        finite(vector(idf, np.float32, "'idf'", size=len(kept)), "'idf'")
        if idf.min() < 1 or idf.max() > MAX_IDF:
            raise ModelIntegrityError(f"'idf' must be from 1 to {MAX_IDF}")
        return cls(columns, n_tokens, bounds, idf, config.sublinear_tf, config.norm == "l2")


def choose_columns(tally: Tally, orders: np.ndarray, shortest: int, config: TextConfig) -> Weights:
    """Choose the terms that become columns; idf = ln((1 + N) / (1 + df)) + 1.

    Args:
        tally: the frequencies of all terms.
        orders: the length in tokens of each n-gram (single tokens not included).
        shortest: terms of fewer tokens get no column.
        config: the limits on frequencies and columns.
    """
    frequencies, totals = tally.joined()
    n_tokens = tally.n_tokens
    orders = np.concatenate([np.ones(n_tokens, np.int8), orders])
    keep = (frequencies >= config.min_df) & (frequencies <= config.max_df * tally.documents)
    keep &= orders >= shortest
    kept = _by_length(keep, orders)
    if config.max_features is not None and len(kept) > config.max_features:
        most_frequent = np.argsort(-totals[kept], kind="stable")[: config.max_features]
        kept = kept[np.sort(most_frequent)]
    if len(kept) == 0:
        raise DataError(
            f"no term is left of {len(frequencies):,} in {tally.documents:,} documents: "
            "the texts are empty, or 'min_df' or 'max_df' leaves nothing"
        )
    columns, bounds = _layout(kept, orders)
    idf = (np.log((1 + tally.documents) / (1 + frequencies[kept])) + 1).astype(np.float32)
    return Weights(columns, n_tokens, bounds, idf, config.sublinear_tf, config.norm == "l2")


def _by_length(keep: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """The terms to keep, short ones first, those of one length in the order of their first appearance."""
    kept = np.flatnonzero(keep)
    return kept[np.argsort(orders[kept], kind="stable")]


def _layout(kept: np.ndarray, orders: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The column of each term, if those kept get one in their order, and where each length begins."""
    columns = np.full(len(orders), -1, np.int32)
    columns[kept] = np.arange(len(kept), dtype=np.int32)
    bounds = np.searchsorted(orders[kept], np.arange(1, int(orders[kept[-1]]) + 2)).astype(np.int64)
    return columns, bounds


@kernel
def column_of(number: int, columns: np.ndarray, n_tokens: int) -> Any:
    """The column of a term number, or -1."""
    return columns[number if number < FIRST_NGRAM else number - FIRST_NGRAM + n_tokens]


@kernel
def weigh_row(
    numbers: np.ndarray,
    counts: np.ndarray,
    out_columns: np.ndarray,
    out_data: np.ndarray,
    columns: np.ndarray,
    n_tokens: int,
    bounds: np.ndarray,
    idf: np.ndarray,
    sublinear: bool,
    l2: bool,
) -> int:
    """Write the columns and weights of one document; returns how many there are."""
    at = 0
    squares = 0.0
    for order in range(len(bounds) - 1):
        for i in range(len(numbers)):
            column = column_of(numbers[i], columns, n_tokens)
            if bounds[order] <= column < bounds[order + 1]:
                frequency = 1.0 + np.log(float(counts[i])) if sublinear else float(counts[i])
                weight = frequency * idf[column]
                squares += weight * weight
                out_columns[at] = column
                out_data[at] = weight
                at += 1
    if l2 and squares > 0.0:
        scale = 1.0 / np.sqrt(squares)
        for i in range(at):
            out_data[i] = out_data[i] * scale
    return at


@kernel
def _row_sizes(indptr: np.ndarray, numbers: np.ndarray, columns: np.ndarray, n_tokens: int) -> np.ndarray:
    sizes = np.zeros(len(indptr) - 1, np.int64)
    for d in range(len(sizes)):
        kept = 0
        for i in range(indptr[d], indptr[d + 1]):
            if column_of(numbers[i], columns, n_tokens) >= 0:
                kept += 1
        sizes[d] = kept
    return sizes


@kernel
def _fill_rows(
    rows: np.ndarray,
    numbers: np.ndarray,
    counts: np.ndarray,
    indptr: np.ndarray,
    columns: np.ndarray,
    n_tokens: int,
    bounds: np.ndarray,
    idf: np.ndarray,
    sublinear: bool,
    l2: bool,
) -> tuple[np.ndarray, np.ndarray]:
    out_columns = np.empty(indptr[-1], np.int32)
    out_data = np.empty(indptr[-1], np.float32)
    for d in range(len(rows) - 1):
        weigh_row(
            numbers[rows[d] : rows[d + 1]],
            counts[rows[d] : rows[d + 1]],
            out_columns[indptr[d] : indptr[d + 1]],
            out_data[indptr[d] : indptr[d + 1]],
            columns,
            n_tokens,
            bounds,
            idf,
            sublinear,
            l2,
        )
    return out_columns, out_data
