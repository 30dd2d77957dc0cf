"""The scores of candidates: inner products of a document's embedding with their classifiers."""

from __future__ import annotations

import numpy as np

from longtail.errors import UsageError
from longtail.kernels import SUMS, kernel
from longtail.shortlist.candidates import Candidates, over_blocks


def score(x: np.ndarray, candidates: Candidates, classifiers: np.ndarray) -> Candidates:
    """The candidates with the inner product of their classifier and their document as score.

    Shapes:
        x float32 [n, D], classifiers float32 [L, D]
    """
    if len(x) != len(candidates) or x.shape[1] != classifiers.shape[1]:
        raise UsageError(
            f"embeddings {x.shape} do not fit candidates of {len(candidates)} documents "
            f"and classifiers {classifiers.shape}"
        )
    x, classifiers = np.ascontiguousarray(x, np.float32), np.ascontiguousarray(classifiers, np.float32)
    out = np.empty(len(candidates.ids), np.float32)
    over_blocks(
        len(x), lambda a, b: _score(x[a:b], candidates.indptr[a : b + 1], candidates.ids, classifiers, out)
    )
    return candidates.with_scores(out)


def score_missing(
    x: np.ndarray, candidates: Candidates, scored: Candidates, classifiers: np.ndarray, bias: float
) -> np.ndarray:
    """The scores of candidates [entries]: looked up where ``scored`` has them, computed where it has not.

    Shapes:
        x float32 [n, D], classifiers float32 [L, D]
    """
    found = candidates.scores_in(scored, fill=np.nan)
    missing = np.isnan(found)
    if missing.any():
        rest = candidates.where(missing)
        found[missing] = score(x, rest, classifiers).scores + np.float32(bias)
    return found


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)) without overflow; low values keep their order, as they are not rounded to 0."""
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1, small) / (1 + small), np.float32)


def softmax(candidates: Candidates) -> Candidates:
    """The candidates with the softmax over the scores of their document.

    For scores of a ranking loss, whose level is arbitrary: a sigmoid would round many of them to 1. The order is
    kept far below the best score too, as small numbers are not rounded to 0.
    """
    rows, scores = candidates.rows, candidates.scores.astype(np.float64)
    best = np.full(len(candidates), -np.inf)
    np.maximum.at(best, rows, scores)
    scores = np.exp(scores - best[rows])
    total = np.bincount(rows, scores, minlength=len(candidates))
    return candidates.with_scores(scores / total[rows])


@kernel(fastmath=SUMS)
def dot(a: np.ndarray, b: np.ndarray) -> np.float32:
    """The inner product of two vectors, added in an order that depends on their length alone."""
    total = np.float32(0)
    for d in range(len(a)):
        total += a[d] * b[d]
    return total


@kernel
def _score(
    x: np.ndarray, indptr: np.ndarray, ids: np.ndarray, classifiers: np.ndarray, out: np.ndarray
) -> None:
    for i in range(len(x)):
        for p in range(indptr[i], indptr[i + 1]):
            out[p] = dot(x[i], classifiers[ids[p]])
