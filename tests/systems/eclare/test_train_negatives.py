"""Hard negatives: where they come from, and that none is a positive."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.cluster.meta_labels import cluster_graph
from longtail.systems.eclare import train
from longtail.systems.eclare.context import TrainingContext
from longtail.systems.eclare.predict import Clusters
from longtail.training.task import Batch
from tests.planted import Parts
from tests.systems.eclare.dry_run import DryRun
from tests.systems.eclare.worlds import context_of


def random_clusters(context: TrainingContext) -> Clusters:
    rng = np.random.default_rng(0)
    cluster_of = np.arange(40) % 8
    return Clusters(
        tokens=rng.standard_normal((context.inputs.X.shape[1], 16)).astype(np.float32),
        residual=np.eye(16, dtype=np.float32),
        classifiers=rng.standard_normal((8, 16)).astype(np.float32),
        bias=np.zeros(1, np.float32),
        member_ptr=np.arange(0, 41, 5),
        members=np.argsort(cluster_of, kind="stable").astype(np.int32),
        graph=cluster_graph(context.inputs.G, cluster_of, 8, 10),
    )


@pytest.mark.parametrize("source", ["shortlist", "pagerank"])
def test_hard_negatives_are_never_positives(
    tiny: Parts, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train, "MINED_AT_ONCE", 50)
    context = context_of(tiny, negatives={"source": source})
    hard = train.hard_negatives(context, random_clusters(context))
    assert hard is not None
    assert hard.shape[0] == len(tiny.train)
    assert (hard >= 0).any()
    positive = context.inputs.Y.toarray() > 0
    documents, slots = np.nonzero(hard >= 0)
    assert not positive[documents, hard[documents, slots]].any()
    rows = [row[row >= 0] for row in hard]
    assert all(len(set(row)) == len(row) for row in rows)


def test_hard_negatives_come_from_the_document_s_clusters(tiny: Parts) -> None:
    context = context_of(tiny, shortlist={"beam": 2}, game={"negatives": False})
    clusters = random_clusters(context)
    hard = train.hard_negatives(context, clusters)
    assert hard is not None
    x = context.inputs.X.toarray() @ clusters.tokens
    scores = np.maximum(x + np.maximum(x, 0), 0) @ clusters.classifiers.T
    best = np.argsort(-scores, axis=1)[:, :2]
    for row, found in enumerate(hard):
        if context.inputs.X[[row]].nnz:
            near = {int(label) for c in best[row] for label in range(40) if label % 8 == c}
            assert set(found[found >= 0]) == near - set(context.inputs.Y[[row]].indices)
        else:
            assert (found == -1).all()


def test_game_brings_in_other_negatives(tiny: Parts) -> None:
    found = []
    for game in (True, False):
        context = context_of(tiny, game={"negatives": game, "mix": 1.0})
        found.append(train.hard_negatives(context, random_clusters(context)))
    assert not np.array_equal(*found)


def test_sources_of_hard_negatives(tiny: Parts) -> None:
    context = context_of(tiny)
    clusters = random_clusters(context)
    assert train.hard_negatives(context, Clusters.none(16)) is None
    for nothing in ({"source": "none"}, {"hard": 0}):
        assert train.hard_negatives(context_of(tiny, negatives=nothing), clusters) is None
    # Labels near those of a document need no shortlist.
    walk = train.hard_negatives(context_of(tiny, negatives={"source": "pagerank"}), Clusters.none(16))
    assert walk is not None
    assert not np.array_equal(walk, train.hard_negatives(context, clusters))
    for source in ("shortlist", "pagerank", "none"):
        hard = DryRun(tiny, negatives={"source": source})["rank"].targets.hard
        assert (hard is None) == (source == "none")


def test_lists_without_positives_are_moved_up() -> None:
    Y = csr_array(np.array([[0, 1, 0, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], np.float32))
    labels = np.array([[3, 0, 1, 4], [2, 0, -1, -1], [0, 1, 2, -1]], np.int32)
    found = train.without_positives(labels, Y, np.array([4, -1, -1]))
    assert found.tolist() == [[0, -1, -1, -1], [2, 0, -1, -1], [-1, -1, -1, -1]]
    assert found.dtype == np.int32


@pytest.mark.parametrize("source", ["shortlist", "pagerank"])
def test_as_many_hard_negatives_are_kept_as_wanted(tiny: Parts, source: str) -> None:
    found = {}
    # The walk of page rank is at most at 4 times as many labels: 10 is enough for all 40.
    for kept in (10, 300):
        context = context_of(tiny, negatives={"source": source, "kept": kept})
        mined = train.hard_negatives(context, random_clusters(context))
        assert mined is not None
        found[kept] = mined
    assert found[10].shape[1] == 10
    # The first of a longer list.
    assert np.array_equal(found[300][:, :10], found[10])


def test_a_whole_shortlist_can_be_the_negatives(tiny: Parts) -> None:
    """The paper: a document is trained on its positives and on all negatives of its shortlist, and on no others."""
    paper = {"hard": 300, "kept": 300, "random": 0, "corrected": False, "scope": "document"}
    task = DryRun(tiny, negatives=paper, shortlist={"beam": 3})["rank"]
    assert task.targets.hard is not None
    batch = Batch(np.arange(8), 0, 0, 0)
    sampled = task.sampler.sample(batch)
    assert (sampled.log_weight == 0).all()
    for row, hard in enumerate(task.targets.hard[:8]):
        assert set(sampled.columns[sampled.negative[row]]) == set(hard[hard >= 0])
        assert set(sampled.columns[sampled.positive[row]]) == set(task.targets.Y[[row]].indices)
