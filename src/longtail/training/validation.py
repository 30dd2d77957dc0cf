"""Metrics on validation documents while a network trains: all labels scored, no confidence intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from longtail.metrics.propensity import inverse_propensity, psp
from longtail.metrics.topk import hits, precision, recall
from longtail.training.matrices import TrainingMatrices, document_rows
from longtail.types import Dataset

MOST_SCORES = 100_000_000
"""Documents times labels that one validation scores at most: about a second of one core."""
SCORES_AT_ONCE = 1 << 25
"""Scores that are in memory at a time."""

DEPTH = 10


@dataclass(frozen=True, slots=True)
class ValidationSet:
    """Validation documents as arrays.

    Attributes:
        X: [n, columns].
        Y: [n, labels], without the pairs that are not scored.
        unscored: [n, labels] pairs that are not scored, or None.
        train_counts: training documents per label.
        n_train: training documents.
    """

    X: csr_array
    Y: csr_array
    unscored: csr_array | None
    train_counts: np.ndarray
    n_train: int

    @classmethod
    def of(cls, valid: Dataset, matrices: TrainingMatrices, fields: tuple[str, ...]) -> ValidationSet:
        """Of validation data; labels that training does not have are left out."""
        X = document_rows(matrices.features, valid.documents, fields)
        counts = np.bincount(matrices.Y.indices, minlength=matrices.Y.shape[1])
        Y, unscored = scored_pairs(valid, len(counts))
        return cls(X, Y, unscored, counts, matrices.X.shape[0])

    def affordable_rows(self, seed: int, cost: int = 1) -> np.ndarray:
        """All rows, or a sample that can be scored after each epoch, where a score has this cost."""
        return self.sample_rows(max(200, MOST_SCORES // max(self.Y.shape[1] * cost, 1)), seed)

    def sample_rows(self, size: int, seed: int) -> np.ndarray:
        """At most ``size`` rows, at random, rising."""
        n = self.Y.shape[0]
        if n <= size:
            return np.arange(n)
        return np.sort(np.random.default_rng(seed).choice(n, size, replace=False))

    def take(self, rows: np.ndarray) -> ValidationSet:
        """Some of the documents."""
        if len(rows) == self.Y.shape[0] and (rows == np.arange(len(rows))).all():
            return self
        unscored = None if self.unscored is None else self.unscored[rows]
        return replace(self, X=self.X[rows], Y=self.Y[rows], unscored=unscored)


def scored_pairs(valid: Dataset, n_labels: int) -> tuple[csr_array, csr_array | None]:
    """The positives among the first ``n_labels`` labels without unscored pairs, and the unscored pairs."""
    Y = csr_array(valid.Y[:, :n_labels])
    unscored = None if valid.unscored is None else csr_array(valid.unscored[:, :n_labels])
    if unscored is not None:
        Y = csr_array(Y - Y.multiply(unscored.astype(bool)))
        Y.eliminate_zeros()
    return Y, unscored


def metrics_of_products(
    documents: np.ndarray, classifiers: np.ndarray, validation: ValidationSet
) -> dict[str, float]:
    """Metrics where a score is the inner product of a document [n, D] and a classifier [L, D]."""
    return metrics_of_scores(lambda rows: documents[rows] @ classifiers.T, validation)


def metrics_of_scores(
    scores_of: Callable[[slice], np.ndarray], validation: ValidationSet
) -> dict[str, float]:
    """Metrics from the scores of all labels.

    Args:
        scores_of: gives the scores of some documents, in an array of its own [rows, labels].
    """
    n, n_labels = validation.Y.shape
    depth = min(DEPTH, n_labels)
    labels = np.full((n, DEPTH), -1)
    at_once = max(1, min(256, SCORES_AT_ONCE // max(n_labels, 1)))
    for start in range(0, n, at_once):
        rows = slice(start, start + at_once)
        scores = scores_of(rows)
        if validation.unscored is not None:
            pairs = validation.unscored[rows]
            scores[np.repeat(np.arange(len(scores)), np.diff(pairs.indptr)), pairs.indices] = -np.inf
        best = np.argpartition(-scores, depth - 1, axis=1)[:, :depth]
        order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1, kind="stable")
        labels[rows, :depth] = np.take_along_axis(best, order, axis=1)
    return ranking_metrics(labels, validation)


def without_unscored(labels: np.ndarray, unscored: csr_array | None) -> np.ndarray:
    """Rankings [n, m] with pairs that are not scored moved out, -1 padded."""
    if unscored is None:
        return labels
    skipped = hits(labels, unscored)
    order = np.argsort(skipped, axis=1, kind="stable")
    return np.take_along_axis(np.where(skipped, -1, labels), order, axis=1)


def ranking_metrics(labels: np.ndarray, validation: ValidationSet) -> dict[str, float]:
    """Metrics in percent of a ranking [n, at least 10]; ``overall`` is the mean of P@1, P@5, PSP@1, PSP@5."""
    q = inverse_propensity(validation.train_counts, validation.n_train)
    Y = validation.Y
    shares = {
        "P@1": precision(labels, Y, 1),
        "P@5": precision(labels, Y, 5),
        "PSP@1": psp(labels, Y, q, 1),
        "PSP@5": psp(labels, Y, q, 5),
        "R@10": recall(labels, Y, 10),
    }
    found = {name: 100 * share for name, share in shares.items()}
    overall = np.mean([found[name] for name in ("P@1", "P@5", "PSP@1", "PSP@5")])
    return {**found, "overall": float(overall)}
