"""How often each term is in each document, and in how many documents it is."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numba import njit, prange

from longtail.text.ngrams import FIRST_RUN


@dataclass(frozen=True, slots=True)
class Counts:
    """Rows of (term number, count), sorted by number."""

    indptr: np.ndarray
    numbers: np.ndarray
    counts: np.ndarray


def count(indptr: np.ndarray, runs: np.ndarray) -> Counts:
    """The distinct numbers of each document with their counts; -1 is skipped.

    Shapes: ``runs`` int32[orders, n_tokens], where document ``d`` has the columns ``indptr[d]:indptr[d + 1]``.
    """
    ordered, ends, distinct = _sort_documents(indptr, runs)
    rows = np.zeros(len(distinct) + 1, np.int64)
    np.cumsum(distinct, out=rows[1:])
    numbers, counts = _run_lengths(indptr * len(runs), ordered, ends, rows)
    return Counts(rows, numbers, counts)


@dataclass(slots=True)
class Tally:
    """Document frequency and total count of every term, over all documents seen; tokens and runs apart."""

    documents: int = 0
    tokens: np.ndarray = field(default_factory=lambda: np.zeros((2, 0), np.int64))
    runs: np.ndarray = field(default_factory=lambda: np.zeros((2, 0), np.int64))

    def add(self, counts: Counts, n_tokens: int, n_runs: int) -> None:
        """Take in more documents, after which there are ``n_tokens`` tokens and ``n_runs`` runs."""
        self.tokens, self.runs = _grown(self.tokens, n_tokens), _grown(self.runs, n_runs)
        _tally(counts.numbers, counts.counts, self.tokens, self.runs)
        self.documents += len(counts.indptr) - 1

    def joined(self) -> tuple[np.ndarray, np.ndarray]:
        """Document frequencies and total counts, tokens first."""
        both = np.concatenate([self.tokens, self.runs], axis=1)
        return both[0], both[1]


def _grown(table: np.ndarray, size: int) -> np.ndarray:
    if table.shape[1] == size:
        return table
    larger = np.zeros((2, size), np.int64)
    larger[:, : table.shape[1]] = table
    return larger


@njit(cache=True)
def run_lengths(ordered: np.ndarray, size: int, numbers: np.ndarray, counts: np.ndarray) -> int:
    """Write the distinct values of ``ordered[:size]`` and their counts; returns how many there are."""
    at = -1
    for i in range(size):
        if i == 0 or ordered[i] != ordered[i - 1]:
            at += 1
            numbers[at] = ordered[i]
            counts[at] = 0
        counts[at] += 1
    return at + 1


@njit(cache=True, parallel=True)
def _sort_documents(indptr: np.ndarray, runs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    orders = len(runs)
    ordered = np.empty(runs.size, np.int32)
    sizes = np.empty(len(indptr) - 1, np.int64)
    distinct = np.empty(len(indptr) - 1, np.int64)
    for d in prange(len(sizes)):
        first = indptr[d] * orders
        end = first
        for order in range(orders):
            for i in range(indptr[d], indptr[d + 1]):
                if runs[order, i] >= 0:
                    ordered[end] = runs[order, i]
                    end += 1
        ordered[first:end].sort()
        different = 0
        for i in range(first, end):
            if i == first or ordered[i] != ordered[i - 1]:
                different += 1
        sizes[d] = end - first
        distinct[d] = different
    return ordered, sizes, distinct


@njit(cache=True, parallel=True)
def _run_lengths(
    starts: np.ndarray, ordered: np.ndarray, sizes: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    numbers = np.empty(rows[-1], np.int32)
    counts = np.empty(rows[-1], np.int32)
    for d in prange(len(sizes)):
        run_lengths(ordered[starts[d] :], sizes[d], numbers[rows[d] :], counts[rows[d] :])
    return numbers, counts


@njit(cache=True)
def _tally(numbers: np.ndarray, counts: np.ndarray, tokens: np.ndarray, runs: np.ndarray) -> None:
    for i in range(len(numbers)):
        number = numbers[i]
        if number < FIRST_RUN:
            tokens[0, number] += 1
            tokens[1, number] += counts[i]
        else:
            runs[0, number - FIRST_RUN] += 1
            runs[1, number - FIRST_RUN] += counts[i]
