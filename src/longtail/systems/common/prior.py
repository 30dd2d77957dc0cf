"""The answer to a document of which nothing is known: the most frequent labels, with their shares."""

from __future__ import annotations

import numpy as np

from longtail.types import TopK

DEPTH = 100


class Prior:
    """The most frequent labels of the training documents."""

    def __init__(self, label_counts: np.ndarray, n_documents: int) -> None:
        order = np.argsort(-label_counts, kind="stable")[:DEPTH]
        shares = np.minimum(label_counts[order] / n_documents, 1)
        self.labels, self.scores = order.astype(np.int32), shares.astype(np.float32)

    def where(self, unknown: np.ndarray, top: TopK) -> TopK:
        """The answers with this one for the documents that are ``unknown``, bool [n]."""
        k = min(top.k, len(self.labels))
        labels, scores = top.labels.copy(), top.scores.copy()
        labels[unknown] = -1
        scores[unknown] = 0
        labels[unknown, :k] = self.labels[:k]
        scores[unknown, :k] = self.scores[:k]
        return TopK(labels, scores)
