"""Documents that training does not see: validation data, or a few of the training documents in their place."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail.systems.common.rows import Rows, document_rows
from longtail.systems.common.validation import Held
from longtail.systems.common.witness import Witness
from longtail.types import Dataset

TAUGHT_BY = 3000
"""Documents that the weights of a learnt score come from at most."""

ENOUGH_TO_HOLD_OUT = 1000
"""Training documents from which on some can be spared, where there is no validation data."""


def held_out(train: Dataset, seed: int) -> tuple[Dataset, Dataset]:
    """Training documents, and a few at random that take the place of validation data."""
    size = min(TAUGHT_BY, max(100, len(train) // 20))
    order = np.random.default_rng(seed).permutation(len(train))
    return train.take(np.sort(order[size:])), train.take(np.sort(order[:size]))


def held_documents(valid: Dataset, rows: Rows, fields: tuple[str, ...], witness: Witness | None) -> Held:
    """Validation documents as the figures need them."""
    n_labels = rows.Y.shape[1]
    X = document_rows(rows.features, valid.documents, fields)
    counts = np.bincount(rows.Y.indices, minlength=n_labels)
    Y = csr_array(valid.Y[:, :n_labels])
    left_out = None if valid.unscored is None else csr_array(valid.unscored[:, :n_labels])
    if left_out is not None:
        Y = csr_array(Y - Y.multiply(left_out.astype(bool)))
        Y.eliminate_zeros()
    linear = None if witness is None else witness(valid.documents)
    return Held(X, Y, left_out, counts, rows.X.shape[0], linear)
