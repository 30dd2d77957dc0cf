"""Labels without training documents, for systems that never predict them."""

from __future__ import annotations

import numpy as np

from longtail.types import Dataset

SHOWN = 3
"""Ids that the sentence names at most."""


def never_predicted(train: Dataset) -> str | None:
    """The sentence that names them; None if every label has a document."""
    cold = np.flatnonzero(train.label_counts == 0)
    if not len(cold):
        return None
    ids = ", ".join(repr(train.labels.ids[label]) for label in cold[:SHOWN])
    more = ", ..." if len(cold) > SHOWN else ""
    return f"labels without training documents, which are never predicted: {len(cold):,} ({ids}{more})"
