"""The one hold-out split: validation documents, taken from training where the data has none of its own."""

from __future__ import annotations

import numpy as np

from longtail.types import Dataset

MOST_VALIDATION = 3000
"""Documents that are held out at most: as many as a re-ranker is fitted on."""

ENOUGH_TO_HOLD_OUT = 1000
"""Training documents from which on some are held out."""


def hold_out(train: Dataset, seed: int) -> tuple[Dataset, Dataset]:
    """Training documents without a random twentieth (100 to 3,000 of them), and these."""
    size = min(MOST_VALIDATION, max(100, len(train) // 20))
    order = np.random.default_rng(seed).permutation(len(train))
    return train.take(np.sort(order[size:])), train.take(np.sort(order[:size]))
