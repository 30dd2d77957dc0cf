"""For each document a short list of numbered candidates (labels or clusters) with a score each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.sparse import csr_array

from longtail import threads
from longtail.errors import UsageError
from longtail.kernels import kernel
from longtail.shortlist.selection import best_first, best_in_order, by_id, offer
from longtail.types import TopK

FEW = 16
"""So few documents are worked on in the calling thread: handing them to a pool would take longer."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Lists of uneven length, one a document, as the three arrays of a sparse matrix's rows.

    Within a document ids rise and none is there twice. A score of 0 is a candidate like any other.

    Shapes: ``indptr`` int64 [n + 1], ``ids`` int32 [entries], ``scores`` float32 [entries].
    """

    indptr: np.ndarray
    ids: np.ndarray
    scores: np.ndarray

    def __post_init__(self) -> None:
        if self.ids.shape != self.scores.shape or self.indptr[-1] != len(self.ids):
            raise UsageError(
                f"{self.indptr[-1]} candidates are announced, but there are {len(self.ids)} ids and "
                f"scores of shape {self.scores.shape}"
            )

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def counts(self) -> np.ndarray:
        """How many candidates each document has."""
        counts: np.ndarray = self.indptr[1:] - self.indptr[:-1]
        return counts

    @property
    def rows(self) -> np.ndarray:
        """The document of each entry."""
        return np.repeat(np.arange(len(self)), self.counts)

    def with_scores(self, scores: np.ndarray) -> Candidates:
        """The same candidates with other scores, one an entry."""
        return Candidates(self.indptr, self.ids, np.asarray(scores, np.float32))

    @classmethod
    def stack(cls, parts: Sequence[Candidates]) -> Candidates:
        """The documents of several lists one after another."""
        if len(parts) == 1:
            return parts[0]
        return cls.from_counts(
            np.concatenate([np.empty(0, np.int64), *(part.counts for part in parts)]),
            np.concatenate([np.empty(0, np.int32), *(part.ids for part in parts)]),
            np.concatenate([np.empty(0, np.float32), *(part.scores for part in parts)]),
        )

    @classmethod
    def from_counts(cls, counts: np.ndarray, ids: np.ndarray, scores: np.ndarray) -> Candidates:
        """Entries of all documents in a row, and how many of them each document has."""
        indptr = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=indptr[1:])
        return cls(indptr, ids, scores)

    @classmethod
    def from_padded(cls, ids: np.ndarray, scores: np.ndarray) -> Candidates:
        """Tables [n, b] of ids, -1 where there is none, and their scores; the order in a row is free."""
        ids, scores = np.ascontiguousarray(ids, np.int32), np.ascontiguousarray(scores, np.float32)
        return by_blocks(len(ids), lambda a, b: cls(*_without_padding(ids[a:b], scores[a:b])))

    @classmethod
    def from_dense(cls, scores: np.ndarray, size: int) -> Candidates:
        """The ``size`` best columns of each row of a table of scores [n, columns]."""
        scores = np.ascontiguousarray(scores, np.float32)
        return by_blocks(len(scores), lambda a, b: cls(*_best_columns(scores[a:b], size)))

    @classmethod
    def from_csr(cls, matrix: csr_array) -> Candidates:
        """The stored entries of each row, zeros included."""
        if not matrix.has_sorted_indices:
            matrix = matrix.sorted_indices()
        return cls(
            matrix.indptr.astype(np.int64),
            matrix.indices.astype(np.int32, copy=False),
            matrix.data.astype(np.float32, copy=False),
        )

    def to_csr(self, n_columns: int) -> csr_array:
        """Documents x candidates, with a stored zero where a score is 0."""
        return csr_array((self.scores, self.ids, self.indptr), shape=(len(self), n_columns))

    def best(self, size: int) -> Candidates:
        """The ``size`` candidates of highest score of each document."""
        if len(self.ids) <= size:
            return self
        return by_blocks(
            len(self),
            lambda a, b: Candidates(*_best_entries(self.indptr[a : b + 1], self.ids, self.scores, size)),
        )

    def top_k(self, k: int) -> TopK:
        """The k candidates of highest score, best first."""
        top = TopK.empty(len(self), k)

        def fill(a: int, b: int) -> None:
            _ranked(self.indptr[a : b + 1], self.ids, self.scores, top.indices[a:b], top.scores[a:b])

        over_blocks(len(self), fill)
        return top

    def union(self, other: Candidates, fill: float | None = None) -> Candidates:
        """The candidates of both, with the scores they have here.

        Those of ``other`` alone have the score ``fill``, or with None the one they have there.
        """
        if len(self) != len(other):
            raise UsageError(f"candidates of {len(self)} and of {len(other)} documents cannot be joined")
        there = other.scores if fill is None else np.full(len(other.ids), fill, np.float32)
        return by_blocks(
            len(self),
            lambda a, b: Candidates(
                *_merged(
                    self.indptr[a : b + 1], self.ids, self.scores, other.indptr[a : b + 1], other.ids, there
                )
            ),
        )

    def scores_in(self, other: Candidates, fill: float) -> np.ndarray:
        """The scores that these candidates have in another list, ``fill`` where they are not in it [entries]."""
        if len(self) != len(other):
            raise UsageError(f"candidates of {len(self)} and of {len(other)} documents cannot be compared")
        out = np.full(len(self.ids), fill, np.float32)
        over_blocks(
            len(self),
            lambda a, b: looked_up(
                self.indptr[a : b + 1], self.ids, other.indptr[a : b + 1], other.ids, other.scores, out
            ),
        )
        return out

    def where(self, chosen: np.ndarray) -> Candidates:
        """The entries that are chosen, bool [entries]."""
        ends = np.concatenate([[0], np.cumsum(chosen)])
        return Candidates(ends[self.indptr], self.ids[chosen], self.scores[chosen])

    def without(self, pairs: csr_array) -> Candidates:
        """The candidates that are not among pairs [n, columns]."""
        there = Candidates.from_csr(pairs)
        return self.where(np.isnan(self.scores_in(there, fill=np.nan)))

    def take(self, start: int, stop: int) -> Self:
        """The documents from ``start`` up to ``stop``."""
        entries = slice(self.indptr[start], self.indptr[stop])
        indptr = self.indptr[start : stop + 1] - self.indptr[start]
        return type(self)(indptr, self.ids[entries], self.scores[entries])


def union_of(parts: Sequence[Candidates]) -> Candidates:
    """The candidates of all lists, with the score of the first list that has them."""
    every = parts[0]
    for part in parts[1:]:
        every = every.union(part)
    return every


def mean_of(parts: Sequence[Candidates]) -> Candidates:
    """The candidates of all lists with their mean score; one that a list does not have counts 0 there."""
    if len(parts) == 1:
        return parts[0]
    every = union_of(parts)
    scores = np.stack([every.scores_in(part, 0.0) for part in parts])
    return every.with_scores(scores.sum(axis=0, dtype=np.float32) / np.float32(len(parts)))


def over_blocks(n: int, work: Callable[[int, int], None]) -> None:
    """Do the work on documents ``start`` up to ``stop`` for blocks that together are all n."""
    if n <= FEW:
        work(0, n)
    else:
        threads.run_all(lambda rows: work(*rows), threads.blocks(n, smallest=FEW))


def by_blocks(n: int, work: Callable[[int, int], Candidates]) -> Candidates:
    """The candidates of n documents, found block by block."""
    if n <= FEW:
        return work(0, n)
    return Candidates.stack(threads.run_all(lambda rows: work(*rows), threads.blocks(n, smallest=FEW)))


_Entries = tuple[np.ndarray, np.ndarray, np.ndarray]
"""What a kernel gives back: where the entries of each document begin, their ids and their scores."""


@kernel
def _best_columns(table: np.ndarray, size: int) -> _Entries:
    n, n_columns = table.shape
    size = min(size, n_columns)
    ids, scores = np.empty((n, size), np.int32), np.empty((n, size), np.float32)
    for i in range(n):
        count = 0
        for column in range(n_columns):
            if count < size or (size > 0 and table[i, column] > scores[i, 0]):
                count = offer(ids[i], scores[i], count, column, table[i, column])
        by_id(ids[i], scores[i], count)
    return np.arange(n + 1) * size, ids.ravel(), scores.ravel()


@kernel
def _without_padding(ids: np.ndarray, scores: np.ndarray) -> _Entries:
    n = len(ids)
    ends = np.zeros(n + 1, np.int64)
    kept_ids, kept_scores = np.empty(ids.size, np.int32), np.empty(ids.size, np.float32)
    end = 0
    for i in range(n):
        start = end
        for j in range(ids.shape[1]):
            if ids[i, j] >= 0:
                kept_ids[end], kept_scores[end] = ids[i, j], scores[i, j]
                end += 1
        by_id(kept_ids[start:end], kept_scores[start:end], end - start)
        ends[i + 1] = end
    return ends, kept_ids[:end].copy(), kept_scores[:end].copy()


@kernel
def _best_entries(indptr: np.ndarray, ids: np.ndarray, scores: np.ndarray, size: int) -> _Entries:
    n = len(indptr) - 1
    ends = np.zeros(n + 1, np.int64)
    for i in range(n):
        ends[i + 1] = ends[i] + min(indptr[i + 1] - indptr[i], size)
    kept_ids, kept_scores = np.empty(ends[n], np.int32), np.empty(ends[n], np.float32)
    for i in range(n):
        entries, kept = slice(indptr[i], indptr[i + 1]), slice(ends[i], ends[i + 1])
        best_in_order(ids[entries], scores[entries], kept_ids[kept], kept_scores[kept])
    return ends, kept_ids, kept_scores


@kernel
def _ranked(
    indptr: np.ndarray, ids: np.ndarray, scores: np.ndarray, out_ids: np.ndarray, out_scores: np.ndarray
) -> None:
    for i in range(len(indptr) - 1):
        count = 0
        for p in range(indptr[i], indptr[i + 1]):
            count = offer(out_ids[i], out_scores[i], count, ids[p], scores[p])
        best_first(out_ids[i], out_scores[i], count)


@kernel
def _merged(
    indptr: np.ndarray,
    ids: np.ndarray,
    scores: np.ndarray,
    other_indptr: np.ndarray,
    other_ids: np.ndarray,
    other_scores: np.ndarray,
) -> _Entries:
    n = len(indptr) - 1
    most = indptr[n] - indptr[0] + other_indptr[n] - other_indptr[0]
    ends = np.zeros(n + 1, np.int64)
    all_ids, all_scores = np.empty(most, np.int32), np.empty(most, np.float32)
    end = 0
    for i in range(n):
        p, q = indptr[i], other_indptr[i]
        while p < indptr[i + 1] or q < other_indptr[i + 1]:
            if q == other_indptr[i + 1] or (p < indptr[i + 1] and ids[p] <= other_ids[q]):
                if q < other_indptr[i + 1] and ids[p] == other_ids[q]:
                    q += 1
                all_ids[end], all_scores[end] = ids[p], scores[p]
                p += 1
            else:
                all_ids[end], all_scores[end] = other_ids[q], other_scores[q]
                q += 1
            end += 1
        ends[i + 1] = end
    return ends, all_ids[:end].copy(), all_scores[:end].copy()


@kernel
def looked_up(
    indptr: np.ndarray,
    ids: np.ndarray,
    there_ptr: np.ndarray,
    there_ids: np.ndarray,
    there_scores: np.ndarray,
    out: np.ndarray,
) -> None:
    """Fill in the scores of candidates that are in another list, for documents in a row."""
    for i in range(len(indptr) - 1):
        q, last = there_ptr[i], there_ptr[i + 1]
        for p in range(indptr[i], indptr[i + 1]):
            while q < last and there_ids[q] < ids[p]:
                q += 1
            if q < last and there_ids[q] == ids[p]:
                out[p] = there_scores[q]
