"""The rows of highest inner product among very many: those of the cells that suit a vector best (an inverted file).

Comparing every row takes time in proportion to the rows. Cells are balanced clusters of the rows by direction:
comparing the means of cells, then the rows of the best cells, is several times faster among a million rows. The
answer misses rows of other cells, and is the same alone as in a batch.
"""

from __future__ import annotations

import numpy as np

from longtail.cluster.dense_two_means import balanced_dense_codes
from longtail.errors import UsageError
from longtail.kernels import kernel
from longtail.shortlist.candidates import Candidates, by_blocks
from longtail.shortlist.meta_shortlist import ClusterSearch, consider, mean_row, multiply, rounded
from longtail.shortlist.scoring import dot
from longtail.shortlist.selection import by_id, offer

PER_CELL = 64
"""Rows of a cell, about: with larger ones more is missed for the same number of rows that are compared."""
LOOKED_AT = 384
"""Cells whose rows are compared."""


class CellSearch:
    """Cells of the rows of a matrix [n, D], each with the mean of its rows."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = np.ascontiguousarray(rows, np.float32)
        depth = max(0, round(float(np.log2(max(len(rows), 1) / PER_CELL))))
        lengths = np.linalg.norm(self.rows, axis=1, keepdims=True)
        codes = balanced_dense_codes(self.rows / np.where(lengths > 0, lengths, 1), depth)
        self.members = np.argsort(codes, kind="stable").astype(np.int32)
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=1 << depth))]).astype(
            np.int64
        )
        means = np.empty((1 << depth, rows.shape[1]), np.float32)
        shape = (len(rows), rounded(self.rows[:1], mean_row(self.rows[:1]))[0].shape[1])
        self._steps, self._step, self._error = np.empty(shape, np.int8), *np.empty((2, len(rows)), np.float32)
        common = mean_row(self.rows)
        for cell, (first, last) in enumerate(zip(self.starts[:-1], self.starts[1:], strict=True)):
            part = self.rows[self.members[first:last]]
            means[cell] = mean_row(part)
            self._steps[first:last], self._step[first:last], self._error[first:last] = rounded(part, common)
        self.cells = ClusterSearch(means)

    def top(self, x: np.ndarray, size: int) -> Candidates:
        """The ``size`` rows of highest inner product with each row of x [n, D], among those of its best cells."""
        if size < 1:
            raise UsageError(f"the size of a shortlist must be at least 1, not {size}")
        x = np.ascontiguousarray(x, np.float32)
        best = self.cells.top(x, LOOKED_AT)
        return by_blocks(
            len(x),
            lambda a, b: Candidates(
                *_search(
                    x[a:b],
                    best.indptr[a : b + 1],
                    best.ids,
                    self.starts,
                    self.members,
                    self.rows,
                    self._steps,
                    self._step,
                    self._error,
                    size,
                )
            ),
        )


@kernel
def _search(
    x: np.ndarray,
    indptr: np.ndarray,
    cells: np.ndarray,
    starts: np.ndarray,
    members: np.ndarray,
    matrix: np.ndarray,
    steps: np.ndarray,
    step: np.ndarray,
    error: np.ndarray,
    size: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n, dimensions = x.shape
    size = min(size, len(matrix))
    most, widest = 0, 0
    for i in range(n):
        rows = 0
        for p in range(indptr[i], indptr[i + 1]):
            width = starts[cells[p] + 1] - starts[cells[p]]
            rows, widest = rows + width, max(widest, width)
        most = max(most, rows)
    ends = np.zeros(n + 1, np.int64)
    out_ids, out_scores = np.empty(n * size, np.int32), np.empty(n * size, np.float32)
    vector, about = np.zeros(steps.shape[1], np.float32), np.empty(widest, np.float32)
    possible, highest = np.empty(most, np.int32), np.empty(most, np.float32)
    lowest, lowest_ids = np.empty(size, np.float32), np.empty(size, np.int32)
    end = 0
    for i in range(n):
        squares = 0.0
        for d in range(dimensions):
            vector[d] = x[i, d]
            squares += np.float64(x[i, d]) ** 2
        length = np.float32(np.sqrt(squares))
        n_possible, n_lowest = 0, 0
        for p in range(indptr[i], indptr[i + 1]):
            first, last = starts[cells[p]], starts[cells[p] + 1]
            multiply(steps[first:last], vector, about)
            n_possible, n_lowest = consider(
                about,
                first,
                last - first,
                step,
                error,
                length,
                possible,
                highest,
                n_possible,
                lowest_ids,
                lowest,
                n_lowest,
            )
        ids, scores, count = out_ids[end : end + size], out_scores[end : end + size], 0
        # With fewer rows than asked for, none is left out.
        bound = lowest[0] if n_lowest == size else np.float32(-np.inf)
        for p in range(n_possible):
            if highest[p] >= bound:
                row = members[possible[p]]
                count = offer(ids, scores, count, row, dot(x[i], matrix[row]))
        by_id(ids, scores, count)
        end += count
        ends[i + 1] = end
    return ends, out_ids[:end], out_scores[:end]
