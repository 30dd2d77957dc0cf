"""One pass from documents to ranked labels against its steps one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, vstack

from longtail.graph.normalise import by_rows
from longtail.shortlist.embedding import Embedding
from longtail.shortlist.game import Game
from longtail.shortlist.meta_shortlist import MetaShortlist
from longtail.shortlist.scoring import score, sigmoid
from longtail.systems.eclare.ranking import Ranking

TOKENS, WIDTH, CLUSTERS, LABELS, BEAM, BIAS = 30, 8, 12, 50, 3, 0.25


@pytest.mark.parametrize("n", [1, 40])
@pytest.mark.parametrize("mix", [0.0, 0.5])
def test_the_same_as_step_by_step(n: int, mix: float) -> None:
    rng = np.random.default_rng(n)
    tables = [rng.normal(size=(TOKENS, WIDTH)).astype(np.float32) for _ in range(2)]
    embeddings = [Embedding(table, np.eye(WIDTH, dtype=np.float32) / 2) for table in tables]
    bounds = np.sort(rng.integers(0, LABELS, CLUSTERS - 1))
    member_ptr = np.concatenate([[0], bounds, [LABELS]])
    search = MetaShortlist(
        rng.normal(size=(CLUSTERS, WIDTH)).astype(np.float32),
        member_ptr,
        rng.permutation(LABELS).astype(np.int32),
    )
    game = Game(by_rows(csr_array(rng.random((CLUSTERS, CLUSTERS)).astype(np.float32))))
    classifiers = rng.normal(size=(LABELS, WIDTH)).astype(np.float32)
    ranking = Ranking(search, embeddings[0], -1.0, BEAM, game, mix, embeddings[1], classifiers, BIAS)
    X = csr_array((rng.random((n, TOKENS)) < 0.2).astype(np.float32))

    clusters = search.top_clusters(embeddings[0](X), BEAM)
    clusters = clusters.with_scores(sigmoid(clusters.scores - np.float32(1)))
    if mix > 0:
        clusters = game(clusters, mix=mix, keep=BEAM)
    labels = search.expand(clusters)
    raw = score(embeddings[1](X), labels, classifiers, BIAS)

    found = ranking(X)
    assert (found.embedded == embeddings[1](X)).all()
    for made, expected in ((found.clusters, labels), (found.raw, raw)):
        assert (made.indptr == expected.indptr).all()
        assert (made.ids == expected.ids).all()
        assert (made.scores == expected.scores).all()
    together = csr_array(vstack([X, X[[0]]]))
    assert (ranking(together).raw.scores[: len(raw.ids)] == raw.scores).all()
