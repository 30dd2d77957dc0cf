"""Which labels a document has and which documents a label has, as plain arrays for kernels."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail.errors import UsageError
from longtail.graph.rows import sorted_rows


class Membership:
    """Both directions of Y; what is stored in it is a label, whatever its value."""

    def __init__(self, Y: csr_array) -> None:
        by_document = sorted_rows(Y)
        by_label = sorted_rows(by_document.with_data(by_document.data).T)
        self.arrays = (by_label.indptr, by_label.indices, by_document.indptr, by_document.indices)
        """Start of each label's documents, documents, start of each document's labels, labels."""


def heads(Y: csr_array, above: int) -> np.ndarray:
    """Which labels have more than ``above`` documents, bool [labels]."""
    return np.asarray(np.bincount(sorted_rows(Y).indices, minlength=Y.shape[1]) > above)


def checked_heads(marks: np.ndarray | None, n_labels: int) -> np.ndarray:
    """One mark a label; no label is a head label when there are no marks."""
    if marks is None:
        return np.zeros(n_labels, np.bool_)
    if marks.shape != (n_labels,):
        raise UsageError(f"heads must be one mark for each of {n_labels} labels, not an array {marks.shape}")
    return np.ascontiguousarray(marks, dtype=np.bool_)
