"""A calibrated system for tests: the text of a document is a ranking, whose labels are right by their rank."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail.types import Dataset, Documents, LabelSet
from tests.systems.noting import Noting

N_LABELS = 60
SHARES = np.concatenate([[0.95, 0.6, 0.3, 0.1], np.full(6, 0.02)])
"""How often the label of a rank is right."""


def documents(n: int = 600, seed: int = 0) -> Dataset:
    """Documents whose ten labels are right as ``SHARES`` says."""
    rng = np.random.default_rng(seed)
    ranked = np.stack([rng.choice(N_LABELS, len(SHARES), replace=False) for _ in range(n)])
    right = rng.random(ranked.shape) < SHARES
    rows, columns = np.nonzero(right)
    Y = csr_array((np.ones(len(rows), np.float32), (rows, ranked[rows, columns])), shape=(n, N_LABELS))
    texts = [" ".join(map(str, row)) for row in ranked.tolist()]
    labels = LabelSet([f"l{label}" for label in range(N_LABELS)], [""] * N_LABELS)
    return Dataset(Documents.of(texts), labels, Y)


def calibrated(**settings: str) -> Noting:
    """Trained, and calibrated on 600 documents unless a setting says otherwise."""
    return Noting(**settings).fit(documents(seed=1), valid=documents(seed=2))
