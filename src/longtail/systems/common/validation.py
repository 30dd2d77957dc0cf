"""Figures on validation documents while a module learns: all labels scored, no confidence bands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from longtail.metrics.propensity import inverse_propensity, psp
from longtail.metrics.topk import precision, recall
from longtail.shortlist.candidates import Candidates

MOST_SCORES = 300_000_000
"""Documents times targets that one validation scores at most: about two seconds of two cores."""

DEPTH = 10


@dataclass(frozen=True, slots=True)
class Held:
    """Documents that training does not see, and what their figures need.

    Attributes:
        X: [n, tokens].
        Y: [n, labels], without the pairs that do not count.
        left_out: [n, labels] pairs that do not count, or None.
        train_counts: training documents of each label.
        n_train: training documents.
        linear: what a linear tree says of them, or None.
    """

    X: csr_array
    Y: csr_array
    left_out: csr_array | None
    train_counts: np.ndarray
    n_train: int
    linear: Candidates | None = None

    def some(self, seed: int) -> Held:
        """All of them, or a sample that is affordable to look at after each epoch."""
        return self.rows(self.some_rows(seed))

    def some_rows(self, seed: int, cost: int = 1) -> np.ndarray:
        """The numbers of such a sample, where a score has this cost."""
        return self.sample_rows(max(200, MOST_SCORES // max(self.Y.shape[1] * cost, 1)), seed)

    def sample(self, size: int, seed: int) -> Held:
        """At most ``size`` of them, at random."""
        return self.rows(self.sample_rows(size, seed))

    def sample_rows(self, size: int, seed: int) -> np.ndarray:
        """The numbers of at most ``size`` of them, at random."""
        n = self.Y.shape[0]
        if n <= size:
            return np.arange(n)
        return np.sort(np.random.default_rng(seed).choice(n, size, replace=False))

    def rows(self, rows: np.ndarray) -> Held:
        """Some of them, by number."""
        if len(rows) == self.Y.shape[0] and (rows == np.arange(len(rows))).all():
            return self
        left_out = None if self.left_out is None else self.left_out[rows]
        linear = None if self.linear is None else Candidates.stack([self.linear.take(r, r + 1) for r in rows])
        return replace(self, X=self.X[rows], Y=self.Y[rows], left_out=left_out, linear=linear)


def figures(documents: np.ndarray, classifiers: np.ndarray, held: Held) -> dict[str, float]:
    """The figures of inner products.

    Shapes:
        documents [n, D], classifiers [labels, D]
    """
    return figures_of(lambda rows: documents[rows] @ classifiers.T, held)


def figures_of(scored: Callable[[slice], np.ndarray], held: Held) -> dict[str, float]:
    """P, PSP and recall in percent, and a mean of them as ``overall`` in which rare labels are half.

    Args:
        scored: gives the scores of all labels for some documents, in an array of its own [rows, labels].
    """
    n, n_labels = held.Y.shape
    depth = min(DEPTH, n_labels)
    labels = np.full((n, DEPTH), -1)
    for start in range(0, n, 256):
        rows = slice(start, start + 256)
        scores = scored(rows)
        if held.left_out is not None:
            pairs = held.left_out[rows]
            scores[np.repeat(np.arange(len(scores)), np.diff(pairs.indptr)), pairs.indices] = -np.inf
        best = np.argpartition(-scores, depth - 1, axis=1)[:, :depth]
        order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1, kind="stable")
        labels[rows, :depth] = np.take_along_axis(best, order, axis=1)
    return headline(labels, held)


def headline(labels: np.ndarray, held: Held) -> dict[str, float]:
    """The figures of a ranking [n, at least 10] without pairs that do not count."""
    q = inverse_propensity(held.train_counts, held.n_train)
    shares = {
        "P@1": precision(labels, held.Y, 1),
        "P@5": precision(labels, held.Y, 5),
        "PSP@1": psp(labels, held.Y, q, 1),
        "PSP@5": psp(labels, held.Y, q, 5),
        "R@10": recall(labels, held.Y, 10),
    }
    found = {name: 100 * share for name, share in shares.items()}
    overall = np.mean([found[name] for name in ("P@1", "P@5", "PSP@1", "PSP@5")])
    return {**found, "overall": float(overall)}
