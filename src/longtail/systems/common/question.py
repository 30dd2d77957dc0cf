"""What a batch is asked in the ranking stage: the labels of retrieved clusters, right ones always among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse import csr_array


@dataclass(frozen=True, slots=True)
class Question:
    """The labels in question, and which of them are right and wrong for each document.

    Shapes:
        columns int64 [m], rising; positive, negative bool [n, m]
    """

    columns: np.ndarray
    positive: np.ndarray
    negative: np.ndarray
    shift: np.ndarray
    """What the score of a wrong label is raised by, float32 [m]: those drawn at random stand for all of them."""


def positive_clusters(Y: csr_array, codes: np.ndarray, n_clusters: int) -> np.ndarray:
    """Clusters with a right label, bool [n, clusters]."""
    found = np.zeros((Y.shape[0], n_clusters), bool)
    found[np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr)), codes[Y.indices]] = True
    return found


def best_columns(scores: np.ndarray, few: int) -> np.ndarray:
    """The ``few`` highest of each row, bool [n, columns]."""
    few = min(few, scores.shape[1])
    found = np.zeros(scores.shape, bool)
    np.put_along_axis(found, np.argpartition(-scores, few - 1, axis=1)[:, :few], True, axis=1)
    return found


def ask(
    Y: csr_array,
    codes: np.ndarray,
    chosen: np.ndarray | None,
    own: np.ndarray,
    *,
    scope: Literal["batch", "own"],
    most: int | None,
    seed: int,
) -> Question:
    """The candidates of a batch.

    Args:
        Y: right labels of the documents [n, L].
        codes: the cluster of each label [L].
        chosen: retrieved clusters, those of right labels among them, bool [n, clusters]; None: all labels.
        own: the label that a document is itself, or -1: neither right nor wrong.
    """
    n, n_labels = Y.shape
    right = np.zeros(n_labels, bool)
    right[Y.indices] = True
    wrong = ~right
    if chosen is not None:
        wrong &= np.asarray(chosen.any(axis=0))[codes]
    pool = np.flatnonzero(wrong)
    raised = 0.0
    if most is not None and len(pool) > most:
        raised = float(np.log(len(pool) / most))
        pool = np.random.default_rng(seed).choice(pool, most, replace=False)
    columns = np.sort(np.concatenate([np.flatnonzero(right), pool]))
    # Labels that are right for somebody are in for certain.
    shift = np.where(right[columns], 0.0, raised).astype(np.float32)
    place = np.full(n_labels, -1)
    place[columns] = np.arange(len(columns))
    positive = np.zeros((n, len(columns)), bool)
    positive[np.repeat(np.arange(n), np.diff(Y.indptr)), place[Y.indices]] = True
    negative = ~positive
    if chosen is not None and scope == "own":
        negative &= chosen[:, codes[columns]]
    inside = np.flatnonzero((own >= 0) & (place[own] >= 0))
    negative[inside, place[own[inside]]] = False
    return Question(columns, positive, negative, shift)
