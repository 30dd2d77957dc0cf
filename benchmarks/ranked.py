"""Predictions in the forms that libraries give, made into labels and scores: n x k, best first, -1 padded."""

from typing import Any

import numpy as np


def ranked_rows(indptr: Any, labels: Any, scores: Any, k: int) -> tuple[Any, Any]:
    """Turns a sparse matrix of scores into n x k labels and scores, best first, -1 padded."""
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    order = np.lexsort((labels, -scores, rows))
    place = np.arange(len(order)) - indptr[rows]
    kept = place < k
    top_labels = np.full((len(indptr) - 1, k), -1, dtype=np.int32)
    top_scores = np.zeros((len(indptr) - 1, k), dtype=np.float32)
    top_labels[rows[kept], place[kept]] = labels[order][kept]
    top_scores[rows[kept], place[kept]] = scores[order][kept]
    return top_labels, top_scores


def ranked_pairs(predicted: list[list[tuple[int, float]]], k: int) -> tuple[Any, Any]:
    """Labels and scores, n x k, in the order given, -1 padded."""
    labels = np.full((len(predicted), k), -1, dtype=np.int32)
    scores = np.zeros((len(predicted), k), dtype=np.float32)
    for row, pairs in enumerate(predicted):
        if pairs:
            kept = pairs[:k]
            labels[row, : len(kept)], scores[row, : len(kept)] = zip(*kept, strict=True)
    return labels, scores
