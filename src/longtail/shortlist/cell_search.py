"""The rows of highest inner product among very many: those of the cells that suit a vector best.

A cell is some neighbouring clusters of a hierarchical clustering. Comparing every row takes time in proportion to
the rows; comparing every cell, then the rows of the best ones, takes about the square root of it. The answer misses
rows of other cells, and is the same alone as in a batch.
"""

from __future__ import annotations

import numpy as np

from longtail.shortlist.candidates import Candidates
from longtail.shortlist.cluster_members import best_members
from longtail.shortlist.meta_shortlist import MetaShortlist

MANY = 200_000
"""With fewer rows than this, all of them are compared."""
PER_CELL = 256
"""Rows of a cell, about."""
LOOKED_AT = 64
"""Cells whose rows are compared."""
AT_ONCE = 256
"""Vectors searched for together: the scores of all rows of their cells are in memory."""


class CellSearch:
    """Cells of the rows of a matrix, each with the mean of its rows.

    Args:
        rows: float32 [n, D].
        member_ptr: int64 [K + 1], where each cluster's rows begin in ``members``; neighbouring clusters are alike.
        members: int32 [n], the rows, cluster by cluster.
    """

    def __init__(self, rows: np.ndarray, member_ptr: np.ndarray, members: np.ndarray) -> None:
        self.rows = np.ascontiguousarray(rows, np.float32)
        # A cell ends with the cluster that makes it large enough.
        at = np.searchsorted(member_ptr, np.arange(PER_CELL, len(members), PER_CELL))
        starts = np.unique(np.concatenate([[0], member_ptr[at], [len(members)]]))
        means = np.empty((len(starts) - 1, rows.shape[1]), np.float32)
        for cell, (first, last) in enumerate(zip(starts[:-1], starts[1:], strict=True)):
            means[cell] = rows[members[first:last]].mean(axis=0)
        self.cells = MetaShortlist(means, starts, members)

    def top(self, x: np.ndarray, size: int) -> Candidates:
        """The ``size`` rows of highest inner product with each row of x [n, D], among those of its best cells."""
        parts = []
        for start in range(0, len(x), AT_ONCE):
            some = x[start : start + AT_ONCE]
            best = self.cells.top_clusters(some, LOOKED_AT)
            parts.append(best_members(some, best, self.cells, self.rows, size))
        return Candidates.stack(parts) if parts else best_members(x, Candidates.empty(0), self.cells, self.rows, size)
