"""The one hold-out split: validation documents, taken from training where the data has none of its own."""

from __future__ import annotations

import numpy as np

from longtail.data.near_duplicates import document_groups
from longtail.types import Dataset

MOST_VALIDATION = 3000
"""Documents that are held out at most: as many as a re-ranker is fitted on."""

ENOUGH_TO_HOLD_OUT = 1000
"""Training documents from which on some are held out."""

LARGEST_GROUP = 10
"""Copies that are more than this part of what is held out stay in training."""


def hold_out(train: Dataset, seed: int) -> tuple[Dataset, Dataset]:
    """Training documents without a random twentieth (100 to 3,000 of them), and these."""
    kept, held = hold_out_rows(train, seed)
    return train.take(kept), train.take(held)


def hold_out_rows(train: Dataset, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The row numbers of training documents that stay, and of those that are held out.

    Documents of the same words stay together: a copy of a training document says nothing about new ones. Others
    that are similar do not, as new documents will be similar to some of training, too.
    """
    size = min(MOST_VALIDATION, max(100, len(train) // 20))
    groups = document_groups(train.documents, similar=1)
    sizes = np.bincount(groups)
    order = np.random.default_rng(seed).permutation(len(sizes))
    # A large group would be most of what is held out.
    order = order[sizes[order] <= max(1, size // LARGEST_GROUP)]
    held = np.zeros(len(sizes), bool)
    held[order[np.cumsum(sizes[order]) <= size]] = True
    return np.flatnonzero(~held[groups]), np.flatnonzero(held[groups])
