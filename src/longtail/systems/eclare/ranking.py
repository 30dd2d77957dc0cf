"""From documents to ranked labels without a pause: embedding, best clusters, their labels, the scores of these.

Steps of one document take so little that handing arrays from one to the next would take as long again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from longtail import threads
from longtail.kernels import kernel
from longtail.shortlist.candidates import FEW, Candidates, looked_up, over_blocks
from longtail.shortlist.embedding import Embedding, embed_rows
from longtail.shortlist.game import ALL, Game, spread_scores
from longtail.shortlist.meta_shortlist import MetaShortlist, expand_clusters, search_rows
from longtail.shortlist.scoring import score_missing_rows, score_rows, sigmoid_of


class RankedRows(NamedTuple):
    """Documents as a model ranks them.

    Attributes:
        embedded: float32 [n, D].
        clusters: the labels of the best clusters with the probabilities of these.
        raw: the same labels with the scores of their classifiers.
    """

    embedded: np.ndarray
    clusters: Candidates
    raw: Candidates


class Ranking:
    """A shortlister and a ranker.

    Args:
        search: the clusters, of which ``beam`` are looked into; ``cluster_bias`` makes their scores log odds.
        cluster_game: hands on ``cluster_mix`` of the probabilities of clusters; with 0 it is left out.
        classifiers: float32 [L, D], to whose products ``bias`` is added.
    """

    def __init__(
        self,
        search: MetaShortlist,
        cluster_embedding: Embedding,
        cluster_bias: float,
        beam: int,
        cluster_game: Game,
        cluster_mix: float,
        embedding: Embedding,
        classifiers: np.ndarray,
        bias: float,
    ) -> None:
        self._parts, self._cluster_graph, own = embedding.parts, cluster_game.arrays, search.search
        self._arguments: tuple[Any, ...] = (
            *(cluster_embedding.tokens, cluster_embedding.outgoing, cluster_embedding.relu),
            *(own.classifiers, own.tiles, own.step, own.error, beam, np.float32(cluster_bias)),
            *(np.float32(cluster_mix), search.member_ptr, search.members),
            *(embedding.tokens, embedding.outgoing, embedding.relu),
            *(np.ascontiguousarray(classifiers, np.float32), np.float32(bias)),
        )

    def __call__(self, X: csr_array) -> RankedRows:
        """Rank the labels of the best clusters of rows [n, V]."""
        indptr, indices, data = self._parts(X)
        n = len(indptr) - 1

        def rank(rows: tuple[int, int]) -> RankedRows:
            embedded, ends, labels, chances, raw = _rank(
                indptr[rows[0] : rows[1] + 1], indices, data, *self._cluster_graph(), *self._arguments
            )
            return RankedRows(embedded, Candidates(ends, labels, chances), Candidates(ends, labels, raw))

        if n <= FEW:
            return rank((0, n))
        parts = threads.run_all(rank, threads.blocks(n, smallest=FEW))
        embedded, clusters, raw = zip(*parts, strict=True)
        return RankedRows(np.concatenate(embedded), Candidates.stack(clusters), Candidates.stack(raw))


def feature_columns(
    embedded: np.ndarray,
    candidates: Candidates,
    raw: Candidates,
    clusters: Candidates,
    classifiers: np.ndarray,
    bias: float,
    game: Game,
    *,
    smooth: bool,
    floor: np.float32,
) -> np.ndarray:
    """Of any candidates: score, log probability after GAME, log probability of the cluster: float32 [entries, 3].

    Args:
        raw: labels whose scores are known.
        clusters: labels with the probabilities of their clusters; others have ``floor``, the least probability.
        smooth: whether probabilities are spread among the candidates; if not, the second column is 0.
    """
    columns = np.empty((len(candidates.ids), 3), np.float32)
    game.check(candidates)

    def fill(a: int, b: int) -> None:
        _fill_columns(
            embedded[a:b],
            candidates.indptr[a : b + 1],
            candidates.ids,
            raw.indptr[a : b + 1],
            raw.ids,
            raw.scores,
            clusters.indptr[a : b + 1],
            clusters.ids,
            clusters.scores,
            classifiers,
            np.float32(bias),
            *game.arrays(),
            smooth,
            floor,
            columns,
        )

    over_blocks(len(candidates), fill)
    return columns


@kernel
def _rank(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    source_ptr: np.ndarray,
    targets: np.ndarray,
    edges: np.ndarray,
    place: np.ndarray,
    cluster_tokens: np.ndarray,
    cluster_outgoing: np.ndarray,
    cluster_relu: bool,
    cluster_classifiers: np.ndarray,
    tiles: np.ndarray,
    step: np.ndarray,
    error: np.ndarray,
    beam: int,
    cluster_bias: np.float32,
    cluster_mix: np.float32,
    member_ptr: np.ndarray,
    members: np.ndarray,
    tokens: np.ndarray,
    outgoing: np.ndarray,
    relu: bool,
    classifiers: np.ndarray,
    bias: np.float32,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    n = len(indptr) - 1
    x = np.empty((n, cluster_tokens.shape[1]), np.float32)
    embed_rows(indptr, indices, data, cluster_tokens, cluster_outgoing, cluster_relu, x)
    ends, clusters, scores = search_rows(x, cluster_classifiers, tiles, step, error, beam)
    chances = np.empty(len(scores), np.float32)
    sigmoid_of(scores + cluster_bias, chances)
    if cluster_mix > 0:
        ends, clusters, chances = spread_scores(
            ends, clusters, chances, source_ptr, targets, edges, place, cluster_mix, beam, True
        )
    ends, labels, chances = expand_clusters(ends, clusters, chances, member_ptr, members)
    embedded = np.empty((n, tokens.shape[1]), np.float32)
    embed_rows(indptr, indices, data, tokens, outgoing, relu, embedded)
    raw = np.empty(len(labels), np.float32)
    score_rows(embedded, ends, labels, classifiers, bias, raw)
    return embedded, ends, labels, chances, raw


@kernel
def _fill_columns(
    embedded: np.ndarray,
    indptr: np.ndarray,
    ids: np.ndarray,
    raw_ptr: np.ndarray,
    raw_ids: np.ndarray,
    raw_scores: np.ndarray,
    cluster_ptr: np.ndarray,
    cluster_ids: np.ndarray,
    cluster_scores: np.ndarray,
    classifiers: np.ndarray,
    bias: np.float32,
    source_ptr: np.ndarray,
    targets: np.ndarray,
    edges: np.ndarray,
    place: np.ndarray,
    smooth: bool,
    floor: np.float32,
    out: np.ndarray,
) -> None:
    first, last = indptr[0], indptr[len(indptr) - 1]
    raw, chances = np.empty(len(ids), np.float32), np.empty(len(ids), np.float32)
    score_missing_rows(embedded, indptr, ids, raw_ptr, raw_ids, raw_scores, classifiers, bias, raw)
    cluster, smoothed = np.zeros(len(ids), np.float32), np.ones(last - first, np.float32)
    looked_up(indptr, ids, cluster_ptr, cluster_ids, cluster_scores, cluster)
    if smooth:
        sigmoid_of(raw[first:last], chances[first:last])
        _, _, smoothed = spread_scores(
            indptr, ids, chances, source_ptr, targets, edges, place, np.float32(1), ALL, False
        )
    for p in range(first, last):
        out[p, 0] = raw[p]
        out[p, 1] = np.log(max(smoothed[p - first], floor))
        out[p, 2] = np.log(max(cluster[p], floor))
