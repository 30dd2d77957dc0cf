"""Sampled negatives: the labels that a batch of documents is scored against, with positives and negatives marked.

Two samplers. :class:`BatchSampler` takes the positives of the batch, hard negatives and random labels.
:func:`sample_from_clusters` takes the labels of retrieved clusters, as two-stage retrieval systems do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from longtail.training.batches import Batch

Scope = Literal["batch", "document"]
"""batch: every sampled label is a negative of every document that it is no positive of; document: hard negatives
count for their own document alone."""


@dataclass(frozen=True, slots=True)
class SampledLabels:
    """The labels of a batch.

    Attributes:
        columns: labels, rising, int64 [m].
        positive, negative: bool [n, m].
        log_weight: logarithm of how many unsampled negatives each sampled one stands for, float32 [m].
    """

    columns: np.ndarray
    positive: np.ndarray
    negative: np.ndarray
    log_weight: np.ndarray

    def of_documents(self, rows: slice | np.ndarray) -> SampledLabels:
        """The same labels for some of the documents."""
        return replace(self, positive=self.positive[rows], negative=self.negative[rows])


class BatchSampler:
    """Positives of the batch, a few hard negatives per document, and random labels for all documents.

    Args:
        Y: documents x labels.
        self_label: the label that each document is, or -1: never a negative.
        hard: [documents, m] hard negatives, -1 padded.
        n_hard: hard negatives per document and step.
        n_random: random labels per step.
        corrected: whether a negative counts as many times as it would without sampling.
        batch_size: documents per step.
    """

    def __init__(
        self,
        Y: csr_array,
        *,
        self_label: np.ndarray | None = None,
        hard: np.ndarray | None = None,
        n_hard: int = 0,
        n_random: int,
        corrected: bool,
        scope: Scope = "batch",
        batch_size: int,
    ) -> None:
        self.Y, self.self_label, self.hard = Y, self_label, hard
        self.ignored: csr_array | None = None
        """Pairs that are neither positive nor negative [documents, labels]; a task may set them per epoch."""
        self.n_hard, self.n_random, self.scope = n_hard, n_random, scope
        counts = np.bincount(Y.indices, minlength=Y.shape[1])
        self.log_weight = np.zeros(Y.shape[1], np.float32)
        if corrected:
            self.log_weight -= np.log(inclusion_probability(counts, Y.shape[0], batch_size, n_random))

    def sample(self, batch: Batch) -> SampledLabels:
        """The labels that this batch is scored against; they depend on the batch and its seed alone."""
        Y = self.Y[batch.rows]
        hard = self._hard_negatives(batch)
        columns = self._columns(Y, hard, batch)
        positive, negative = self._masks(Y, hard, columns, batch.rows)
        return SampledLabels(columns, positive, negative, self.log_weight[columns])

    def _hard_negatives(self, batch: Batch) -> np.ndarray | None:
        """A few of each document's hard negatives [n, n_hard], -1 padded."""
        if self.hard is None or not self.n_hard:
            return None
        rows: np.ndarray = self.hard[batch.rows]
        if rows.shape[1] <= self.n_hard:
            return rows
        chosen = np.random.default_rng(batch.seed).random(rows.shape).argpartition(self.n_hard, axis=1)
        return np.take_along_axis(rows, chosen[:, : self.n_hard], axis=1)

    def _columns(self, Y: csr_array, hard: np.ndarray | None, batch: Batch) -> np.ndarray:
        """The labels that are scored in this batch, each once."""
        width = Y.shape[1]
        used = np.zeros(width, bool)
        used[Y.indices] = True
        if hard is not None:
            used[hard[hard >= 0]] = True
        if self.n_random >= width:
            used[:] = True
        else:
            used[np.random.default_rng(batch.seed + 1).integers(0, width, self.n_random)] = True
        return np.flatnonzero(used)

    def _masks(
        self, Y: csr_array, hard: np.ndarray | None, columns: np.ndarray, rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        positive = np.zeros((len(rows), len(columns)), bool)
        of_entry = np.repeat(np.arange(len(rows)), np.diff(Y.indptr))
        positive[of_entry, np.searchsorted(columns, Y.indices)] = True
        if self.scope == "document" and hard is not None:
            negative = np.zeros_like(positive)
            documents, slots = np.nonzero(hard >= 0)
            negative[documents, np.searchsorted(columns, hard[documents, slots])] = True
            negative &= ~positive
        else:
            negative = ~positive
        if self.self_label is not None:
            _unmark(negative, self.self_label[rows], columns)
        if self.ignored is not None:
            ignored = self.ignored[rows]
            document = np.repeat(np.arange(len(rows)), np.diff(ignored.indptr))
            column, there = _places(columns, ignored.indices)
            for mask in (positive, negative):
                mask[document[there], column[there]] = False
        return positive, negative


def sample_from_clusters(
    Y: csr_array,
    cluster_of: np.ndarray,
    retrieved: np.ndarray | None,
    self_label: np.ndarray,
    *,
    scope: Scope,
    most: int | None,
    seed: int,
) -> SampledLabels:
    """The labels of retrieved clusters; positives are always among them.

    Args:
        Y: positives of the documents [n, L].
        cluster_of: the cluster of each label [L].
        retrieved: clusters per document, those of positives among them, bool [n, clusters]; None: all labels.
        self_label: the label that a document is itself, or -1: neither positive nor negative.
        most: negatives of a batch at most, drawn at random; None: all.
    """
    n, n_labels = Y.shape
    is_positive = np.zeros(n_labels, bool)
    is_positive[Y.indices] = True
    pool = ~is_positive
    if retrieved is not None:
        pool &= np.asarray(retrieved.any(axis=0))[cluster_of]
    negatives = np.flatnonzero(pool)
    log_share = 0.0
    if most is not None and len(negatives) > most:
        log_share = float(np.log(len(negatives) / most))
        negatives = np.random.default_rng(seed).choice(negatives, most, replace=False)
    columns = np.sort(np.concatenate([np.flatnonzero(is_positive), negatives]))
    # Labels that are a positive of some document are in for certain.
    log_weight = np.where(is_positive[columns], 0.0, log_share).astype(np.float32)
    positive = np.zeros((n, len(columns)), bool)
    positive[np.repeat(np.arange(n), np.diff(Y.indptr)), np.searchsorted(columns, Y.indices)] = True
    negative = ~positive
    if retrieved is not None and scope == "document":
        negative &= retrieved[:, cluster_of[columns]]
    _unmark(negative, self_label, columns)
    return SampledLabels(columns, positive, negative, log_weight)


def positive_clusters(Y: csr_array, cluster_of: np.ndarray, n_clusters: int) -> np.ndarray:
    """Clusters with a positive label, bool [n, clusters]."""
    found = np.zeros((Y.shape[0], n_clusters), bool)
    found[np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr)), cluster_of[Y.indices]] = True
    return found


def best_columns(scores: np.ndarray, size: int) -> np.ndarray:
    """The ``size`` highest of each row, bool [n, columns]."""
    size = min(size, scores.shape[1])
    found = np.zeros(scores.shape, bool)
    np.put_along_axis(found, np.argpartition(-scores, size - 1, axis=1)[:, :size], True, axis=1)
    return found


def inclusion_probability(counts: np.ndarray, n_documents: int, batch_size: int, n_random: int) -> np.ndarray:
    """The probability that a label is scored in a batch: as a positive of a document, or as a random label."""
    width = len(counts)
    if n_random >= width:
        return np.ones(width, np.float32)
    absent = np.log1p(-np.minimum(counts / max(n_documents, 1), 0.999)) * batch_size
    absent += np.log1p(-1 / max(width, 2)) * n_random
    return np.asarray(np.maximum(-np.expm1(absent), 1e-6), np.float32)


def _places(columns: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where labels are among the rising columns, and whether they are; a table of all labels would cost more."""
    if not len(columns):
        return np.zeros(len(labels), np.int64), np.zeros(len(labels), bool)
    place = np.minimum(np.searchsorted(columns, labels), len(columns) - 1)
    return place, columns[place] == labels


def _unmark(negative: np.ndarray, self_label: np.ndarray, columns: np.ndarray) -> None:
    """Make no document a negative of itself."""
    place, there = _places(columns, self_label)
    negative[np.flatnonzero(there), place[there]] = False
