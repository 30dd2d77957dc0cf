"""The scores of candidates: inner products of a document's embedding with their classifiers."""

from __future__ import annotations

import numpy as np

from longtail.errors import UsageError
from longtail.kernels import SUMS, kernel
from longtail.shortlist.candidates import Candidates, over_blocks


def score(x: np.ndarray, candidates: Candidates, classifiers: np.ndarray, bias: float = 0.0) -> Candidates:
    """The candidates with the inner product of their classifier and their document, and a bias, as score.

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
        len(x),
        lambda a, b: score_rows(
            x[a:b], candidates.indptr[a : b + 1], candidates.ids, classifiers, np.float32(bias), out
        ),
    )
    return candidates.with_scores(out)


def score_missing(
    x: np.ndarray, candidates: Candidates, scored: Candidates, classifiers: np.ndarray, bias: float
) -> np.ndarray:
    """The scores of candidates [entries]: looked up where ``scored`` has them, computed where it has not.

    Shapes:
        x float32 [n, D], classifiers float32 [L, D]
    """
    if not len(x) == len(candidates) == len(scored):
        raise UsageError(
            f"{len(x)} embeddings, candidates of {len(candidates)} and of {len(scored)} documents"
        )
    out = np.empty(len(candidates.ids), np.float32)
    over_blocks(
        len(x),
        lambda a, b: score_missing_rows(
            x[a:b],
            candidates.indptr[a : b + 1],
            candidates.ids,
            scored.indptr[a : b + 1],
            scored.ids,
            scored.scores,
            classifiers,
            np.float32(bias),
            out,
        ),
    )
    return out


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)) without overflow; low values keep their order, as they are not rounded to 0."""
    x = np.asarray(x, np.float32)
    out = np.empty(x.shape, np.float32)
    sigmoid_of(x.ravel(), out.reshape(-1))
    return out


def softsign(x: np.ndarray) -> np.ndarray:
    """0.5 + 0.5 x / (1 + |x|): between 0 and 1, and high values keep their order for longer than by a sigmoid."""
    x = np.asarray(x, np.float32)
    out = np.empty(x.shape, np.float32)
    _softsign(x.ravel(), out.reshape(-1))
    return out


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
def score_rows(
    x: np.ndarray,
    indptr: np.ndarray,
    ids: np.ndarray,
    classifiers: np.ndarray,
    bias: np.float32,
    out: np.ndarray,
) -> None:
    """Write the scores of candidates of documents in a row."""
    for i in range(len(x)):
        for p in range(indptr[i], indptr[i + 1]):
            out[p] = dot(x[i], classifiers[ids[p]]) + bias


@kernel
def score_missing_rows(
    x: np.ndarray,
    indptr: np.ndarray,
    ids: np.ndarray,
    there_ptr: np.ndarray,
    there_ids: np.ndarray,
    there_scores: np.ndarray,
    classifiers: np.ndarray,
    bias: np.float32,
    out: np.ndarray,
) -> None:
    """Write scores of candidates: those that another list has are looked up."""
    for i in range(len(x)):
        q, last = there_ptr[i], there_ptr[i + 1]
        for p in range(indptr[i], indptr[i + 1]):
            while q < last and there_ids[q] < ids[p]:
                q += 1
            if q < last and there_ids[q] == ids[p]:
                out[p] = there_scores[q]
            else:
                out[p] = dot(x[i], classifiers[ids[p]]) + bias


@kernel
def sigmoid_of(x: np.ndarray, out: np.ndarray) -> None:
    """Write the sigmoid of each value."""
    one = np.float32(1)
    for p in range(len(x)):
        small = np.exp(-abs(x[p]))
        out[p] = (one if x[p] >= 0 else small) / (one + small)


@kernel
def _softsign(x: np.ndarray, out: np.ndarray) -> None:
    half, one = np.float32(0.5), np.float32(1)
    for p in range(len(x)):
        out[p] = half + half * x[p] / (one + abs(x[p]))
