"""Boosted oblivious trees that re-rank the candidates of documents: LambdaMART on top of a first score.

Each tree is a Newton step on the loss of the candidates' order. A positive p and a negative n of a document with
scores s and ranks r count, if one of them is among the ``RANKS`` first, with

    v_p |1 / log2(r_p + 2) - 1 / log2(r_n + 2)| log(1 + exp(s_n - s_p)) / the best DCG of the document

where v_p is the weight of the positive's label. A level of a tree compares one feature with one threshold in all
its nodes: the pair of highest gain, sum over nodes and sides of G^2 / (H + ``RIDGE``), with G and H the sums of
first and second derivatives. Features are cut into ``BINS`` bins at quantiles, so a level is one pass over bins.

Every tree is fitted on a random half of the documents, which regularises, and on ``DOCUMENTS`` at most, so that the
cost does not grow with the number of validation documents.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from longtail.kernels import SUMS, kernel
from longtail.systems.ensemble.reranker import DEPTH, LEAVES

BINS = 64
RANKS = 20
RATE = 0.1
RIDGE = 5.0
DOCUMENTS = 1000


@dataclass(frozen=True, slots=True, eq=False)
class RankedExamples:
    """Candidates document by document.

    Shapes:
        indptr int64 [n + 1]; x float32 [entries, features]; positive bool, negative bool, weight float32 and
        scores (what trees are added to) float32 [entries]
    """

    indptr: np.ndarray
    x: np.ndarray
    positive: np.ndarray
    negative: np.ndarray
    weight: np.ndarray
    scores: np.ndarray


def boost(examples: RankedExamples, trees: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compared features, thresholds [trees, DEPTH] and values of leaves [trees, LEAVES]."""
    compared = np.zeros((trees, DEPTH), np.int32)
    cuts = np.zeros((trees, DEPTH), np.int32)
    values = np.zeros((trees, LEAVES), np.float32)
    edges = [_edges(column) for column in examples.x.T]
    bins = np.stack([np.searchsorted(edge, column) for edge, column in zip(edges, examples.x.T, strict=True)])
    bins = bins.astype(np.uint8)
    n_cuts = np.array([len(edge) for edge in edges])
    scores = examples.scores.astype(np.float32)
    n = len(examples.indptr) - 1
    rng = np.random.default_rng(0)
    for t in range(trees):
        some = np.sort(rng.permutation(n)[: min(-(-n // 2), DOCUMENTS)])
        entries = _entries_of(examples.indptr, some)
        gradient = _gradients(
            some, examples.indptr, examples.positive, examples.negative, examples.weight, scores, len(entries)
        )
        _grow(np.take(bins, entries, axis=1), n_cuts, gradient, compared[t], cuts[t], values[t])
        _add(bins, compared[t], cuts[t], values[t], scores)
    table = np.full((len(edges), BINS), np.inf)
    for f, edge in enumerate(edges):
        table[f, : len(edge)] = edge
    return compared, table[compared, cuts].astype(np.float32), values


def _edges(column: np.ndarray) -> np.ndarray:
    """Upper ends of the bins of a feature but the last; a constant feature has one that all values are below."""
    found = np.unique(np.quantile(column, np.linspace(0, 1, BINS + 1)[1:-1], method="lower"))
    # A value equal to an edge is in the bin below it, so the highest value is never an edge.
    found = found[found < column.max()]
    return found if len(found) else np.array([column.max()])


def _entries_of(indptr: np.ndarray, documents: np.ndarray) -> np.ndarray:
    """The entries of some documents in one list."""
    counts = indptr[documents + 1] - indptr[documents]
    starts = np.concatenate([[0], np.cumsum(counts)])
    return np.asarray(np.arange(starts[-1]) + np.repeat(indptr[documents] - starts[:-1], counts))


@kernel(fastmath=SUMS)
def _gradients(
    documents: np.ndarray,
    indptr: np.ndarray,
    positive: np.ndarray,
    negative: np.ndarray,
    weight: np.ndarray,
    scores: np.ndarray,
    n_entries: int,
) -> np.ndarray:
    """First and second derivatives of the entries of these documents, float32 [n_entries, 2]."""
    out = np.zeros((n_entries, 2), np.float32)
    widest = 0
    for i in documents:
        widest = max(widest, indptr[i + 1] - indptr[i])
    discount = (1 / np.log2(np.arange(widest) + 2.0)).astype(np.float32)
    rank = np.empty(widest, np.int64)
    at = 0
    for i in documents:
        start, n = indptr[i], indptr[i + 1] - indptr[i]
        order = np.argsort(-scores[start : start + n], kind="mergesort")
        place, n_positive = 0, 0
        for j in order:
            if positive[start + j] or negative[start + j]:
                rank[j] = place
                place += 1
                n_positive += positive[start + j]
        ideal = np.float32(0)
        for j in range(min(n_positive, RANKS)):
            ideal += discount[j]
        for a in range(n):
            if not positive[start + a]:
                continue
            v = weight[start + a] / ideal
            for b in range(n):
                if not negative[start + b] or min(rank[a], rank[b]) >= RANKS:
                    continue
                size = v * abs(discount[rank[a]] - discount[rank[b]])
                wrong = np.float32(1) / (np.float32(1) + np.exp(scores[start + a] - scores[start + b]))
                first, second = size * wrong, size * wrong * (1 - wrong)
                out[at + a, 0] -= first
                out[at + b, 0] += first
                out[at + a, 1] += second
                out[at + b, 1] += second
        at += n
    return out


@kernel(fastmath=SUMS)
def _grow(
    bins: np.ndarray,
    n_cuts: np.ndarray,
    gradient: np.ndarray,
    compared: np.ndarray,
    cuts: np.ndarray,
    values: np.ndarray,
) -> None:
    """Choose feature and cut of each level, and the values of the leaves."""
    n_features, n = bins.shape
    leaf = np.zeros(n, np.int32)
    sums = np.empty((LEAVES, BINS, 2), np.float32)
    gain = np.empty(BINS, np.float64)
    for d in range(DEPTH):
        nodes = 1 << d
        best = -1.0
        for f in range(n_features):
            sums[:nodes] = 0
            column = bins[f]
            for p in range(n):
                total = sums[leaf[p], column[p]]
                total[0] += gradient[p, 0]
                total[1] += gradient[p, 1]
            gain[:] = 0
            for node in range(nodes):
                whole, whole2 = np.float64(0), np.float64(0)
                for b in range(n_cuts[f] + 1):
                    whole += sums[node, b, 0]
                    whole2 += sums[node, b, 1]
                below, below2 = np.float64(0), np.float64(0)
                for b in range(n_cuts[f]):
                    below += sums[node, b, 0]
                    below2 += sums[node, b, 1]
                    above, above2 = whole - below, whole2 - below2
                    gain[b] += below * below / (below2 + RIDGE) + above * above / (above2 + RIDGE)
            for b in range(n_cuts[f]):
                if gain[b] > best * (1 + 1e-6):
                    best, compared[d], cuts[d] = gain[b], f, b
        column, cut = bins[compared[d]], cuts[d]
        for p in range(n):
            leaf[p] = 2 * leaf[p] + (1 if column[p] > cut else 0)
    total, total2 = np.zeros(LEAVES), np.zeros(LEAVES)
    for p in range(n):
        total[leaf[p]] += gradient[p, 0]
        total2[leaf[p]] += gradient[p, 1]
    for k in range(LEAVES):
        values[k] = -RATE * total[k] / (total2[k] + RIDGE)


@kernel
def _add(
    bins: np.ndarray, compared: np.ndarray, cuts: np.ndarray, values: np.ndarray, scores: np.ndarray
) -> None:
    for p in range(len(scores)):
        leaf = 0
        for d in range(DEPTH):
            leaf = 2 * leaf + (1 if bins[compared[d], p] > cuts[d] else 0)
        scores[p] += values[leaf]
