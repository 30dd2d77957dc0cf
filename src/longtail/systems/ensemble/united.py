"""The candidates of several members together, and the rank that each of them has with each member."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from longtail import threads
from longtail.kernels import kernel
from longtail.shortlist.candidates import FEW, Candidates


def united(shortlists: Sequence[Candidates]) -> tuple[Candidates, np.ndarray]:
    """The union, whose scores mean nothing, and 1 / rank in each shortlist, 0 where it is not in it.

    Shapes:
        ranks float32 [entries, shortlists]
    """
    ids = np.concatenate([shortlist.ids for shortlist in shortlists])
    scores = np.concatenate([shortlist.scores for shortlist in shortlists])
    pointers = np.array([shortlist.indptr for shortlist in shortlists])
    start = 0
    for row, shortlist in zip(pointers, shortlists, strict=True):
        row += start
        start += len(shortlist.ids)
    n = pointers.shape[1] - 1
    some = [(0, n)] if n <= FEW else threads.blocks(n, smallest=FEW)
    found = threads.run_all(
        lambda rows: _united(pointers[:, rows[0] : rows[1] + 1].copy(), ids, scores), some
    )
    candidates = Candidates.stack([Candidates(ends, own, ranks[:, 0]) for ends, own, ranks in found])
    return candidates, found[0][2] if len(found) == 1 else np.concatenate([ranks for _, _, ranks in found])


@kernel
def _united(
    pointers: np.ndarray, ids: np.ndarray, scores: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n_lists, n = pointers.shape[0], pointers.shape[1] - 1
    most = 0
    for k in range(n_lists):
        most += pointers[k, n] - pointers[k, 0]
    ends = np.zeros(n + 1, np.int64)
    all_ids, ranks = np.empty(most, np.int32), np.zeros((most, n_lists), np.float32)
    reciprocal = np.empty(len(ids), np.float32)
    at = np.empty(n_lists, np.int64)
    end = 0
    for i in range(n):
        for k in range(n_lists):
            at[k] = pointers[k, i]
            reciprocal_ranks_of(scores, pointers[k, i], pointers[k, i + 1], reciprocal)
        while True:
            lowest = np.int64(-1)
            for k in range(n_lists):
                if at[k] < pointers[k, i + 1] and (lowest < 0 or ids[at[k]] < lowest):
                    lowest = np.int64(ids[at[k]])
            if lowest < 0:
                break
            for k in range(n_lists):
                if at[k] < pointers[k, i + 1] and ids[at[k]] == lowest:
                    ranks[end, k] = reciprocal[at[k]]
                    at[k] += 1
            all_ids[end] = lowest
            end += 1
        ends[i + 1] = end
    return ends, all_ids[:end].copy(), ranks[:end].copy()


@kernel
def reciprocal_ranks_of(scores: np.ndarray, first: int, last: int, out: np.ndarray) -> None:
    """1 / rank of each entry of one document by its score; of equal scores the first one has the better rank."""
    order = np.argsort(-scores[first:last], kind="mergesort")
    for place in range(last - first):
        out[first + order[place]] = np.float32(1) / np.float32(place + 1)
