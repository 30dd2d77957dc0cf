"""The reversed sampler (Sec. 3.1): rare labels first, then one of their documents.

The uniform sampler is the trainer's own order: each document once an epoch.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array, csr_array

from longtail.errors import UsageError


class ReversedSampler:
    """Draws a label with p_l ~ n_max / n_l, then one of its n_l documents, all with replacement.

    Labels without documents are never drawn.

    Shapes:
        Y [documents, labels]
    """

    def __init__(self, Y: csr_array) -> None:
        by_label = csc_array(Y)
        self.first, self.documents = by_label.indptr.astype(np.int64), by_label.indices
        self.counts = np.diff(self.first)
        self.labels = np.flatnonzero(self.counts)
        if not len(self.labels):
            raise UsageError("no document has a label: there is nothing to draw from")
        weights = self.counts.max() / self.counts[self.labels]
        self.chances = weights / weights.sum()
        """p of each of ``labels``."""
        self._bounds = np.cumsum(self.chances)

    def draw(self, size: int, seed: int) -> np.ndarray:
        """``size`` documents, int64; the same seed draws the same ones."""
        rng = np.random.default_rng(seed)
        found = np.searchsorted(self._bounds, rng.random(size), side="right")
        # The last bound may be a rounding error below 1.
        labels = self.labels[np.minimum(found, len(self.labels) - 1)]
        chosen = (rng.random(size) * self.counts[labels]).astype(np.int64)
        places = self.first[labels] + np.minimum(chosen, self.counts[labels] - 1)
        return np.asarray(self.documents[places], np.int64)
