"""The answers of several trees as one: the mean of a label's scores over the trees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from longtail import threads
from longtail.kernels import kernel
from longtail.shortlist.selection import best_first, offer

_FEW = 256
"""So few documents are averaged in the calling thread: handing them to a pool would take longer."""


def average_answers(found: Sequence[tuple[np.ndarray, np.ndarray]], k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k best labels by their mean score; a label that a tree did not find counts 0 there.

    Shapes:
        found: labels int32 [n, depth] (-1 padded) and scores float32 [n, depth] of each tree
        returns labels int32 [n, k] (-1 padded) and scores float32 [n, k] (0 padded)
    """
    n, depth = found[0][0].shape
    labels = np.empty((n, len(found), depth), np.int32)
    scores = np.empty((n, len(found), depth), np.float32)
    for number, (tree_labels, tree_scores) in enumerate(found):
        labels[:, number], scores[:, number] = tree_labels, tree_scores
    best_labels, best_scores = np.full((n, k), -1, np.int32), np.zeros((n, k), np.float32)

    def average(rows: tuple[int, int]) -> None:
        part = slice(*rows)
        _average(labels[part], scores[part], best_labels[part], best_scores[part])

    if n <= _FEW:
        average((0, n))
    else:
        threads.run_all(average, threads.blocks(n, smallest=_FEW))
    return best_labels, best_scores


@kernel
def _average(
    labels: np.ndarray, scores: np.ndarray, best_labels: np.ndarray, best_scores: np.ndarray
) -> None:
    n, n_trees, depth = labels.shape
    keys = np.empty(n_trees * depth, np.int64)
    for i in range(n):
        n_keys = 0
        for tree in range(n_trees):
            for j in range(depth):
                if labels[i, tree, j] >= 0:
                    # Label and place in one key: sorted, the answers for a label are neighbours.
                    keys[n_keys] = (np.int64(labels[i, tree, j]) << 32) | (tree * depth + j)
                    n_keys += 1
        keys[:n_keys].sort()
        kept = at = 0
        while at < n_keys:
            label = keys[at] >> 32
            total = np.float32(0)
            while at < n_keys and keys[at] >> 32 == label:
                place = keys[at] & 0xFFFFFFFF
                total += scores[i, place // depth, place % depth]
                at += 1
            kept = offer(best_labels[i], best_scores[i], kept, label, total / np.float32(n_trees))
        best_first(best_labels[i], best_scores[i], kept)
