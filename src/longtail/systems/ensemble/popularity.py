"""The popularity fallback: the most frequent labels, for documents that no member can read."""

from __future__ import annotations

import numpy as np

from longtail.shortlist.candidates import Candidates

DEPTH = 100


class PopularityFallback:
    """The most frequent labels of the training documents, with their shares as scores."""

    def __init__(self, label_counts: np.ndarray, n_documents: int) -> None:
        best = np.sort(np.argsort(-label_counts, kind="stable")[:DEPTH])
        best = best[label_counts[best] > 0]
        self.labels = best.astype(np.int32)
        self.scores = np.minimum(label_counts[best] / max(n_documents, 1), 1).astype(np.float32)

    def fill(self, candidates: Candidates, unreadable: np.ndarray) -> Candidates:
        """The candidates, with these in place of those of ``unreadable`` documents, bool [n]."""
        if not unreadable.any():
            return candidates
        kept = candidates.where(~unreadable[candidates.rows])
        counts = np.where(unreadable, len(self.labels), 0)
        n = int(unreadable.sum())
        popular = Candidates.from_counts(counts, np.tile(self.labels, n), np.tile(self.scores, n))
        return kept.union(popular)
