"""The answers of several trees as one: the mean of a label's scores over the trees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from longtail import threads
from longtail.kernels import kernel

_FEW = 256
"""So few documents are averaged in the calling thread: handing them to a pool would take longer."""


def average_answers(
    found: Sequence[tuple[np.ndarray, np.ndarray]], k: int, n_labels: int
) -> tuple[np.ndarray, np.ndarray]:
    """The k best labels by their mean score; a label that a tree did not find counts 0 there.

    Shapes:
        found: labels int32 [n, depth] (-1 padded) and scores float32 [n, depth] of each tree
        returns labels int32 [n, k] (-1 padded) and scores float32 [n, k] (0 padded)
    """
    labels = np.stack([tree[0] for tree in found], axis=1)
    scores = np.stack([tree[1] for tree in found], axis=1)
    n = len(labels)
    best_labels, best_scores = np.full((n, k), -1, np.int32), np.zeros((n, k), np.float32)

    def average(rows: tuple[int, int]) -> None:
        part = slice(*rows)
        _average(labels[part], scores[part], n_labels, best_labels[part], best_scores[part])

    if n <= _FEW:
        average((0, n))
    else:
        threads.run_all(average, threads.blocks(n, smallest=_FEW))
    return best_labels, best_scores


@kernel
def _average(
    labels: np.ndarray,
    scores: np.ndarray,
    n_labels: int,
    best_labels: np.ndarray,
    best_scores: np.ndarray,
) -> None:
    n, n_trees, depth = labels.shape
    limit = best_labels.shape[1]
    total = np.zeros(n_labels, np.float32)
    seen = np.zeros(n_labels, np.bool_)
    candidates = np.empty(n_trees * depth, np.int32)
    for i in range(n):
        n_candidates = 0
        for tree in range(n_trees):
            for j in range(depth):
                label = labels[i, tree, j]
                if label >= 0:
                    total[label] += scores[i, tree, j]
                    if not seen[label]:
                        seen[label] = True
                        candidates[n_candidates] = label
                        n_candidates += 1
        kept = 0
        for c in range(n_candidates):
            label = candidates[c]
            score = total[label] / np.float32(n_trees)
            total[label] = 0
            seen[label] = False
            at = kept
            if kept < limit:
                kept += 1
            else:
                at = limit - 1
                last = best_scores[i, at]
                if score < last or (score == last and label > best_labels[i, at]):
                    continue
            while at > 0 and (
                best_scores[i, at - 1] < score
                or (best_scores[i, at - 1] == score and best_labels[i, at - 1] > label)
            ):
                best_scores[i, at] = best_scores[i, at - 1]
                best_labels[i, at] = best_labels[i, at - 1]
                at -= 1
            best_scores[i, at] = score
            best_labels[i, at] = label
