"""Warm start: half of the labels of each test document are revealed, the other half is to be found.

The protocol of GalaXC (WWW 2021, section 4), and a variant in which training sees no test document.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from longtail import pairs
from longtail.errors import UsageError
from longtail.types import Dataset, Documents

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class WarmStart(NamedTuple):
    """The data to learn from, and test documents with ``revealed`` labels and the hidden ones as ``Y``."""

    train: Dataset
    test: Dataset


def protocol(train: Dataset, test: Dataset, *, seed: int, inductive: bool = False) -> WarmStart:
    """Reveal half of the labels of each test document that has at least two; the other half stays hidden.

    Of an odd number of labels the smaller half is revealed, so both halves have at least one. Filtered pairs
    count as no labels: they are neither revealed nor hidden.

    Args:
        train: the training documents.
        test: the test documents with all their labels; those with fewer than two labels are left out.
        seed: the same seed reveals the same labels.
        inductive: training data stay as they are, and revealed labels come with the documents to tag alone. Else,
            as in the paper, the test documents with their revealed labels (only) are training documents too; test
            ids that training documents have as well then begin with "test:".
    """
    if test.revealed is not None and test.revealed.nnz:
        raise UsageError("the test documents have revealed labels already")
    labels = train.labels.extended(test.labels.ids)
    train, test = train.relabelled(labels), test.relabelled(labels)
    Y = test.Y if test.filtered is None else _where(test.Y, ~_among(test.Y, test.filtered))
    several = np.flatnonzero(np.diff(Y.indptr) >= 2)
    if not len(several):
        raise UsageError("no test document has two labels, so that one could be revealed and one hidden")
    test, Y = test.take(several), Y[several]
    is_revealed = half_of_each_row(Y.indptr, seed)
    given = _where(Y, is_revealed)
    test = replace(test, Y=_where(Y, ~is_revealed), revealed=pairs.union([given]))
    if not inductive:
        test = replace(test, documents=_with_other_ids(test.documents, set(train.documents.ids)))
        train = _joined(train, test, given)
    return WarmStart(train, test)


def half_of_each_row(indptr: np.ndarray, seed: int) -> np.ndarray:
    """Marks a random half (rounded down) of the entries of each row, bool [nnz]."""
    sizes = np.diff(indptr)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    shuffled = np.lexsort((np.random.default_rng(seed).random(len(rows)), rows))
    chosen = np.empty(len(rows), bool)
    chosen[shuffled] = np.arange(len(rows)) - indptr[rows] < sizes[rows] // 2
    return chosen


def _where(matrix: csr_array, keep: np.ndarray) -> csr_array:
    """The stored entries that are marked."""
    from scipy.sparse import csr_array

    ends = np.concatenate([[0], np.cumsum(keep)])[matrix.indptr]
    return csr_array((matrix.data[keep], matrix.indices[keep], ends), shape=matrix.shape)


def _among(matrix: csr_array, others: csr_array) -> np.ndarray:
    """Which stored entries of the matrix are stored in ``others`` too."""
    codes = [
        np.repeat(np.arange(one.shape[0]), np.diff(one.indptr)) * one.shape[1] + one.indices
        for one in (matrix, others)
    ]
    return np.isin(codes[0], codes[1])


def _joined(train: Dataset, test: Dataset, given: csr_array) -> Dataset:
    """The training data with the test documents behind them, which have the labels ``given``."""

    def both(first: csr_array | None, second: csr_array | None) -> csr_array | None:
        if first is None and second is None:
            return None
        n_labels = len(train.labels)
        return pairs.stacked(
            pairs.empty(len(train), n_labels) if first is None else first,
            pairs.empty(len(test), n_labels) if second is None else second,
        )

    return replace(
        train,
        documents=_joined_documents(train.documents, test.documents),
        Y=pairs.stacked(train.Y, given),
        filtered=both(train.filtered, test.filtered),
        revealed=both(train.revealed, None),
        edges=test.edges if train.edges is None else train.edges,
    )


def _joined_documents(first: Documents, second: Documents) -> Documents:
    features, extra = None, None
    if first.features is not None and second.features is not None:
        widths = first.features.shape[1], second.features.shape[1]
        if widths[0] != widths[1]:
            raise UsageError(f"feature rows have {widths[0]} columns in training, but {widths[1]} in test")
        features = pairs.stacked(first.features, second.features)
    elif first.features is not second.features:
        raise UsageError("either the training or the test documents have feature rows, but not both")
    if first.extra is not None or second.extra is not None:
        extra = [*(first.extra or [{}] * len(first)), *(second.extra or [{}] * len(second))]
    return Documents(
        [*first.ids, *second.ids],
        [*first.titles, *second.titles],
        [*first.texts, *second.texts],
        features,
        extra,
    )


def _with_other_ids(documents: Documents, taken: set[str]) -> Documents:
    """The documents, renamed where a training document has the same id: rows that only have numbers for ids."""
    if taken.isdisjoint(documents.ids):
        return documents
    prefix = "test:"
    while any(prefix + id_ in taken for id_ in documents.ids):
        prefix = f"test:{prefix}"
    return replace(documents, ids=[prefix + id_ if id_ in taken else id_ for id_ in documents.ids])
