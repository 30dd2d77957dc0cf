"""The clusters of labels that suit a document best, and the labels in them.

Reading every cluster's classifier in full costs more than the arithmetic. So classifiers are first compared in a
copy rounded to 8 bits, with a bound on what the rounding may change (Cauchy-Schwarz); the few that can be among
the best are then compared in full. The answer is the exact one, and the same alone as in a batch.
"""

from __future__ import annotations

import numpy as np

from longtail.errors import UsageError
from longtail.kernels import SUMS, kernel
from longtail.shortlist.candidates import Candidates, by_blocks
from longtail.shortlist.scoring import dot
from longtail.shortlist.selection import by_id, offer

_TOGETHER = 4
"""Documents compared with a classifier while it is at hand."""

_TILE = 2048
"""Classifiers compared in one go at most: their sums stay at hand."""

_GROUP = 16
"""Rows of which the best one says what may be left out."""

_LANES = 32
"""Rounded rows are filled up with zeros to a multiple of this, so that no rest is added one by one."""


class MetaShortlist:
    """Classifiers of clusters, and the labels of each cluster.

    Args:
        classifiers: float32 [K, D], a row a cluster.
        member_ptr: int64 [K + 1], where each cluster's labels begin in ``members``.
        members: int32, the labels, cluster by cluster.
    """

    def __init__(self, classifiers: np.ndarray, member_ptr: np.ndarray, members: np.ndarray) -> None:
        if len(member_ptr) != len(classifiers) + 1:
            raise UsageError(f"{len(classifiers)} classifiers, but {len(member_ptr) - 1} clusters")
        self.search = ClusterSearch(classifiers)
        self.member_ptr = np.asarray(member_ptr, np.int64)
        self.members = np.asarray(members, np.int32)

    def top_clusters(self, x: np.ndarray, beam: int) -> Candidates:
        """The ``beam`` clusters of highest inner product with each row of x."""
        return self.search.top(x, beam)

    def expand(self, clusters: Candidates) -> Candidates:
        """The labels in each document's clusters, with the score of their cluster.

        A label in several of them has the highest of their scores.
        """
        return by_blocks(
            len(clusters),
            lambda a, b: Candidates(
                *expand_clusters(
                    clusters.indptr[a : b + 1], clusters.ids, clusters.scores, self.member_ptr, self.members
                )
            ),
        )


class ClusterSearch:
    """The rows of a matrix [K, D] of highest inner product with a vector."""

    def __init__(self, classifiers: np.ndarray) -> None:
        self.classifiers = np.ascontiguousarray(classifiers, np.float32)
        # What all rows have in common (the part that says no to most documents) does not change their order:
        # without it, steps are finer.
        steps, self.step, self.error = rounded(self.classifiers, mean_row(self.classifiers))
        self.tiles = _tiles(steps[:, : self.classifiers.shape[1]])

    def top(self, x: np.ndarray, size: int) -> Candidates:
        """The ``size`` rows of highest inner product with each row of x float32 [n, D].

        A row of x that is zero is as near to one as to the other: it has no candidates.
        """
        if x.shape[1] != self.classifiers.shape[1]:
            raise UsageError(f"the rows have {x.shape[1]} dimensions, not {self.classifiers.shape[1]}")
        if size < 1:
            raise UsageError(f"the size of a shortlist must be at least 1, not {size}")
        x = np.ascontiguousarray(x, np.float32)
        return by_blocks(
            len(x),
            lambda a, b: Candidates(
                *search_rows(x[a:b], self.classifiers, self.tiles, self.step, self.error, size)
            ),
        )


def mean_row(matrix: np.ndarray) -> np.ndarray:
    """The mean of the rows, of zeros where there is none."""
    mean: np.ndarray = matrix.mean(axis=0) if len(matrix) else matrix.sum(axis=0)
    return mean


def _tiles(steps: np.ndarray) -> np.ndarray:
    """Rows [K, D] in tiles of at most ``_TILE`` rows, dimension by dimension: int8 [tiles, D, rows of a tile]."""
    n, dimensions = steps.shape
    n_tiles = max(-(-n // _TILE), 1)
    rows = -(-n // (n_tiles * _LANES)) * _LANES
    filled = np.zeros((n_tiles * rows, dimensions), np.int8)
    filled[:n] = steps
    return np.ascontiguousarray(filled.reshape(n_tiles, rows, dimensions).transpose(0, 2, 1))


@kernel
def rounded(matrix: np.ndarray, common: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows less ``common`` in 8 bits, the size of a step of each, and the greatest error for a unit vector."""
    n, dimensions = matrix.shape
    # What adding in single precision may change of a product of two unit vectors, both here and in full.
    slack = 2 * (dimensions + 8) * 2.0**-24
    steps = np.zeros((n, -(-dimensions // _LANES) * _LANES), np.int8)
    step, error = np.zeros(n, np.float32), np.zeros(n, np.float32)
    rest = np.empty(dimensions, np.float64)
    for m in range(n):
        highest, lost, length, rest_length = 0.0, 0.0, 0.0, 0.0
        for d in range(dimensions):
            rest[d] = np.float64(matrix[m, d]) - common[d]
            highest = max(highest, abs(rest[d]))
            length += np.float64(matrix[m, d]) ** 2
            rest_length += rest[d] ** 2
        step[m] = highest / 127
        for d in range(dimensions):
            if step[m] > 0:
                steps[m, d] = np.int8(np.rint(rest[d] / highest * 127))
            lost += (rest[d] - step[m] * steps[m, d]) ** 2
        error[m] = 1.0001 * (np.sqrt(lost) + slack * (np.sqrt(length) + np.sqrt(rest_length) + np.sqrt(lost)))
    return steps, step, error


@kernel
def search_rows(
    x: np.ndarray, matrix: np.ndarray, tiles: np.ndarray, step: np.ndarray, error: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The ``size`` best rows of a matrix for each vector: where those of a vector end, rows and products."""
    n, dimensions = x.shape
    n_rows = len(matrix)
    size = min(size, n_rows)
    ends = np.zeros(n + 1, np.int64)
    out_ids, out_scores = np.empty(n * size, np.int32), np.empty(n * size, np.float32)
    # Of each vector the dimensions that are not 0; their number is filled up to a multiple of four.
    used = np.zeros((_TOGETHER, dimensions + 4), np.int64)
    values = np.zeros((_TOGETHER, dimensions + 4), np.float32)
    n_used, lengths = np.zeros(_TOGETHER, np.int64), np.zeros(_TOGETHER, np.float32)
    rows = tiles.shape[2]
    about = np.empty((_TOGETHER, len(tiles) * rows), np.float32)
    # Rows in groups, of which there are at least twice as many as rows are asked for, if there can be.
    width = max(1, min(_GROUP, n_rows // max(2 * size, 1)))
    best_of_group = np.empty(n_rows // width, np.float32)
    end = 0
    for first in range(0, n, _TOGETHER):
        together = min(_TOGETHER, n - first)
        for t in range(together):
            squares, count = 0.0, 0
            values[t] = 0
            for d in range(dimensions):
                value = x[first + t, d]
                squares += np.float64(value) ** 2
                used[t, count], values[t, count] = d, value
                count += value != 0
            values[t, count] = 0
            n_used[t], lengths[t] = count, np.sqrt(squares)
        for tile in range(len(tiles)):
            for t in range(together):
                out = about[t, tile * rows : (tile + 1) * rows]
                _multiply_tile(tiles[tile], used[t], values[t], n_used[t], out)
        for t in range(together):
            if lengths[t] == 0:
                ends[first + t + 1] = end
                continue
            bound = _least_of_best(about[t], step, error, lengths[t], size, width, best_of_group)
            ids, scores, count = out_ids[end : end + size], out_scores[end : end + size], 0
            for m in range(n_rows):
                if step[m] * about[t, m] + error[m] * lengths[t] >= bound:
                    count = offer(ids, scores, count, m, dot(x[first + t], matrix[m]))
            by_id(ids, scores, count)
            end += count
            ends[first + t + 1] = end
    return ends, out_ids[:end], out_scores[:end]


@kernel
def _least_of_best(
    about: np.ndarray,
    step: np.ndarray,
    error: np.ndarray,
    length: np.float32,
    size: int,
    width: int,
    best_of_group: np.ndarray,
) -> np.float32:
    """What ``size`` rows have at least: the least product of each row is known, and that of the best of a group."""
    n_groups = len(best_of_group)
    if size == 0 or n_groups < size:
        return np.float32(-np.inf)
    # Rows of a group are not neighbours, so that neighbouring groups are compared at once.
    best_of_group[:] = -np.inf
    for start in range(0, n_groups * width, n_groups):
        for g in range(n_groups):
            least = step[start + g] * about[start + g] - error[start + g] * length
            best = best_of_group[g]
            best_of_group[g] = least if least > best else best
    least_of_best: np.float32 = np.partition(best_of_group, n_groups - size)[n_groups - size]
    return least_of_best


@kernel
def consider(
    about: np.ndarray,
    first: int,
    rows: int,
    step: np.ndarray,
    error: np.ndarray,
    length: np.float32,
    possible: np.ndarray,
    highest: np.ndarray,
    n_possible: int,
    lowest_ids: np.ndarray,
    lowest: np.ndarray,
    n_lowest: int,
) -> tuple[int, int]:
    """Note which rows from ``first`` on can be among the best; how many those are, and how many least scores."""
    size = len(lowest)
    bound = lowest[0] if n_lowest == size else np.float32(-np.inf)
    for m in range(rows):
        middle, margin = step[first + m] * about[m], error[first + m] * length
        if middle + margin >= bound:
            possible[n_possible], highest[n_possible] = first + m, middle + margin
            n_possible += 1
            n_lowest = offer(lowest_ids, lowest, n_lowest, first + m, middle - margin)
            bound = lowest[0] if n_lowest == size else np.float32(-np.inf)
    return n_possible, n_lowest


@kernel(fastmath=SUMS)
def multiply(rows: np.ndarray, x: np.ndarray, out: np.ndarray) -> None:
    """The inner product of each row in 8 bits with a vector."""
    for m in range(len(rows)):
        row = rows[m]
        total = np.float32(0)
        for d in range(len(x)):
            total += np.float32(row[d]) * x[d]
        out[m] = total


@kernel(fastmath=SUMS)
def _multiply_tile(
    tile: np.ndarray, used: np.ndarray, values: np.ndarray, n_used: int, out: np.ndarray
) -> None:
    """The inner product of each row of a tile with a vector, four dimensions at a time."""
    out[:] = 0
    for p in range(0, n_used, 4):
        row0, row1, row2, row3 = tile[used[p]], tile[used[p + 1]], tile[used[p + 2]], tile[used[p + 3]]
        x0, x1, x2, x3 = values[p], values[p + 1], values[p + 2], values[p + 3]
        for m in range(len(out)):
            near = x0 * np.float32(row0[m]) + x1 * np.float32(row1[m])
            out[m] += near + x2 * np.float32(row2[m]) + x3 * np.float32(row3[m])


@kernel
def expand_clusters(
    indptr: np.ndarray, clusters: np.ndarray, scores: np.ndarray, member_ptr: np.ndarray, members: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The labels of clusters with the scores of these: where those of a document end, labels and scores."""
    n = len(indptr) - 1
    most = 0
    for p in range(indptr[0], indptr[n]):
        most += member_ptr[clusters[p] + 1] - member_ptr[clusters[p]]
    ends = np.zeros(n + 1, np.int64)
    labels, label_scores = np.empty(most, np.int32), np.empty(most, np.float32)
    end = 0
    for i in range(n):
        start, last = end, end
        for p in range(indptr[i], indptr[i + 1]):
            for q in range(member_ptr[clusters[p]], member_ptr[clusters[p] + 1]):
                labels[last], label_scores[last] = members[q], scores[p]
                last += 1
        by_id(labels[start:], label_scores[start:], last - start)
        for p in range(start, last):
            if end > start and labels[p] == labels[end - 1]:
                label_scores[end - 1] = max(label_scores[end - 1], label_scores[p])
            else:
                labels[end], label_scores[end] = labels[p], label_scores[p]
                end += 1
        ends[i + 1] = end
    return ends, labels[:end], label_scores[:end]
