"""The best labels of a document's clusters, where each label is in one cluster.

Cluster by cluster, not document by document: its labels' vectors are then read from memory once for all documents
that look at them, which is what the time goes into. The answer is the same alone as in a batch, to the last bit.
"""

from __future__ import annotations

import numpy as np

from longtail.errors import UsageError
from longtail.kernels import kernel
from longtail.shortlist.candidates import Candidates, by_blocks, over_blocks
from longtail.shortlist.meta_shortlist import MetaShortlist
from longtail.shortlist.scoring import dot
from longtail.shortlist.selection import by_id, offer


def best_members(
    x: np.ndarray, clusters: Candidates, shortlist: MetaShortlist, vectors: np.ndarray, size: int | None
) -> Candidates:
    """Of the labels in each document's clusters, those of highest inner product with it, which is their score.

    Args:
        clusters: of each document.
        size: labels that stay; None: all of them.

    Shapes:
        x float32 [n, D], vectors float32 [L, D]
    """
    if len(x) != len(clusters) or x.shape[1] != vectors.shape[1]:
        raise UsageError(
            f"vectors {x.shape} of documents do not fit the clusters of {len(clusters)} documents "
            f"and vectors {vectors.shape} of labels"
        )
    x, vectors = np.ascontiguousarray(x, np.float32), np.ascontiguousarray(vectors, np.float32)
    most = len(shortlist.members) if size is None else size

    def work(a: int, b: int) -> Candidates:
        part = clusters.take(a, b)
        order = np.argsort(part.ids, kind="stable")
        first = np.zeros(len(part.ids) + 1, np.int64)
        np.cumsum(np.diff(shortlist.member_ptr)[part.ids], out=first[1:])
        scores = _products(
            x[a:b], part.rows, part.ids, order, first, shortlist.member_ptr, shortlist.members, vectors
        )
        return Candidates.from_counts(
            *_best(part.indptr, part.ids, first, scores, shortlist.member_ptr, shortlist.members, most)
        )

    return by_blocks(len(x), work)


def scores_of_clusters(
    candidates: Candidates, codes: np.ndarray, clusters: Candidates, fill: float
) -> np.ndarray:
    """The score of each candidate's cluster among its document's, ``fill`` where it is none of them [entries].

    Shapes:
        codes int64 [L], the cluster of each label
    """
    out = np.full(len(candidates.ids), fill, np.float32)
    over_blocks(
        len(candidates),
        lambda a, b: _scores_of_clusters(
            candidates.indptr[a : b + 1],
            candidates.ids,
            codes,
            clusters.indptr[a : b + 1],
            clusters.ids,
            clusters.scores,
            out,
        ),
    )
    return out


@kernel
def _products(
    x: np.ndarray,
    rows: np.ndarray,
    clusters: np.ndarray,
    order: np.ndarray,
    first: np.ndarray,
    member_ptr: np.ndarray,
    members: np.ndarray,
    vectors: np.ndarray,
) -> np.ndarray:
    scores = np.empty(first[-1], np.float32)
    for pair in order:
        at = first[pair]
        for q in range(member_ptr[clusters[pair]], member_ptr[clusters[pair] + 1]):
            scores[at] = dot(x[rows[pair]], vectors[members[q]])
            at += 1
    return scores


@kernel
def _best(
    indptr: np.ndarray,
    clusters: np.ndarray,
    first: np.ndarray,
    scores: np.ndarray,
    member_ptr: np.ndarray,
    members: np.ndarray,
    size: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n = len(indptr) - 1
    counts = np.empty(n, np.int64)
    for i in range(n):
        counts[i] = min(size, first[indptr[i + 1]] - first[indptr[i]])
    ids, kept = np.empty(counts.sum(), np.int32), np.empty(counts.sum(), np.float32)
    end = 0
    for i in range(n):
        best_ids, best_scores = ids[end : end + counts[i]], kept[end : end + counts[i]]
        count = 0
        for pair in range(indptr[i], indptr[i + 1]):
            at = first[pair]
            for q in range(member_ptr[clusters[pair]], member_ptr[clusters[pair] + 1]):
                count = offer(best_ids, best_scores, count, members[q], scores[at])
                at += 1
        by_id(best_ids, best_scores, count)
        end += counts[i]
    return counts, ids, kept


@kernel
def _scores_of_clusters(
    indptr: np.ndarray,
    ids: np.ndarray,
    codes: np.ndarray,
    cluster_ptr: np.ndarray,
    clusters: np.ndarray,
    scores: np.ndarray,
    out: np.ndarray,
) -> None:
    for i in range(len(indptr) - 1):
        own = clusters[cluster_ptr[i] : cluster_ptr[i + 1]]
        for p in range(indptr[i], indptr[i + 1]):
            place = np.searchsorted(own, codes[ids[p]])
            if place < len(own) and own[place] == codes[ids[p]]:
                out[p] = scores[cluster_ptr[i] + place]
