"""Labels of the best clusters against the long way round: expand, score, keep the best."""

from __future__ import annotations

import numpy as np
import pytest

from longtail import threads
from longtail.errors import UsageError
from longtail.shortlist.candidates import Candidates
from longtail.shortlist.cluster_members import best_members, scores_of_clusters
from longtail.shortlist.meta_shortlist import MetaShortlist
from longtail.shortlist.scoring import score


class World:
    """Labels in clusters of uneven sizes, one of them empty."""

    def __init__(self, seed: int, n: int, n_labels: int = 50, n_clusters: int = 7, width: int = 9) -> None:
        rng = np.random.default_rng(seed)
        self.codes = rng.integers(0, n_clusters - 1, n_labels)
        ptr = np.concatenate([[0], np.cumsum(np.bincount(self.codes, minlength=n_clusters))])
        members = np.argsort(self.codes, kind="stable").astype(np.int32)
        self.shortlist = MetaShortlist(rng.standard_normal((n_clusters, width)), ptr, members)
        self.vectors = rng.standard_normal((n_labels, width), np.float32)
        self.x = rng.standard_normal((n, width), np.float32)
        self.clusters = self.shortlist.top_clusters(self.x, 3)


@pytest.mark.parametrize("n", [1, 5, 200])
@pytest.mark.parametrize("size", [1, 4, 1000, None])
def test_the_same_as_the_long_way_round(n: int, size: int | None) -> None:
    world = World(n, n)
    every = score(world.x, world.shortlist.expand(world.clusters), world.vectors)
    expected = every if size is None else every.best(size)
    found = best_members(world.x, world.clusters, world.shortlist, world.vectors, size)
    assert found.indptr.tolist() == expected.indptr.tolist()
    assert found.ids.tolist() == expected.ids.tolist()
    assert found.scores.tobytes() == expected.scores.tobytes()


def test_alone_in_a_batch_and_with_two_threads_the_same_bits() -> None:
    world = World(3, 100)
    with threads.limit(1):
        whole = best_members(world.x, world.clusters, world.shortlist, world.vectors, 6)
    with threads.limit(2):
        again = best_members(world.x, world.clusters, world.shortlist, world.vectors, 6)
    assert again.scores.tobytes() == whole.scores.tobytes()
    for i in (0, 41):
        one = best_members(
            world.x[i : i + 1], world.clusters.take(i, i + 1), world.shortlist, world.vectors, 6
        )
        assert one.ids.tolist() == whole.take(i, i + 1).ids.tolist()
        assert one.scores.tobytes() == whole.take(i, i + 1).scores.tobytes()


def test_documents_without_clusters_have_no_labels() -> None:
    world = World(0, 2)
    none = Candidates.from_counts(np.zeros(2, np.int64), np.empty(0, np.int32), np.empty(0, np.float32))
    assert not best_members(world.x, none, world.shortlist, world.vectors, 3).counts.any()


@pytest.mark.parametrize("n", [1, 80])
def test_the_score_of_a_labels_cluster(n: int) -> None:
    world = World(5, n)
    some = np.tile(np.arange(0, 50, 3, dtype=np.int32), n)
    candidates = Candidates.from_counts(np.full(n, 17), some, np.zeros(len(some), np.float32))
    expected = candidates.scores_in(world.shortlist.expand(world.clusters), -9.0)
    found = scores_of_clusters(candidates, world.codes, world.clusters, -9.0)
    assert found.tolist() == expected.tolist()
    assert (found == -9).any()
    assert (found > -9).any()


def test_shapes_that_do_not_fit_are_refused() -> None:
    world = World(0, 2)
    with pytest.raises(UsageError, match="do not fit"):
        best_members(world.x[:1], world.clusters, world.shortlist, world.vectors, 3)
    with pytest.raises(UsageError, match="do not fit"):
        best_members(world.x, world.clusters, world.shortlist, world.vectors[:, 1:], 3)
