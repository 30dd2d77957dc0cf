"""The best clusters and their labels against comparing with every cluster in full."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from longtail import threads
from longtail.errors import UsageError
from longtail.shortlist.candidates import Candidates
from longtail.shortlist.meta_shortlist import ClusterSearch, MetaShortlist


def alike_rows(n: int, dimensions: int, seed: int) -> NDArray[np.float32]:
    """Rows in groups that differ little, around a common one, and a few that are equal or zero."""
    rng = np.random.default_rng(seed)
    groups = rng.normal(size=(1 + n // 20, dimensions)) * np.exp(rng.normal(size=dimensions))
    rows = groups[rng.integers(0, len(groups), n)] + 0.05 * rng.normal(size=(n, dimensions))
    rows += 10 * rng.normal(size=dimensions)
    rows[rng.integers(0, n, n // 20)] = rows[0]
    rows[rng.integers(0, n, n // 50)] = 0
    return rows.astype(np.float32)


@pytest.mark.parametrize(("n_rows", "dimensions"), [(1, 3), (5, 1), (300, 8), (2000, 64), (700, 300)])
@pytest.mark.parametrize("size", [1, 30])
def test_the_answer_is_the_exact_one(n_rows: int, dimensions: int, size: int) -> None:
    matrix = alike_rows(n_rows, dimensions, n_rows)
    x = np.maximum(alike_rows(41, dimensions, 7), 0)
    x[3] = 0
    found = ClusterSearch(matrix).top(x, size)
    exact = x.astype(np.float64) @ matrix.T.astype(np.float64)
    top = found.top_k(size)
    here = min(size, n_rows)
    for i in range(len(x)):
        if not x[i].any():
            assert found.counts[i] == 0
            continue
        best = np.sort(exact[i])[::-1][:here]
        tolerance = 1e-5 * np.linalg.norm(x[i]) * np.linalg.norm(matrix, axis=1).max()
        assert np.allclose(exact[i, top.indices[i, :here]], best, rtol=0, atol=tolerance)
        assert np.allclose(top.scores[i, :here], best, rtol=0, atol=tolerance)
        assert (top.indices[i, here:] == -1).all()


def test_equal_rows_rank_by_number() -> None:
    matrix = np.ones((50, 6), np.float32)
    assert ClusterSearch(matrix).top(np.ones((6, 6), np.float32), 4).ids.tolist() == [0, 1, 2, 3] * 6


@given(st.integers(0, 2**31), st.integers(1, 9))
def test_alone_in_a_batch_and_with_one_thread_the_same_bits(seed: int, n: int) -> None:
    search = ClusterSearch(alike_rows(100, 12, seed))
    x = alike_rows(n * 4, 12, seed + 1)
    together = search.top(x, 7)
    alone = Candidates.stack([search.top(x[[i]], 7) for i in range(len(x))])
    with threads.limit(1):
        one_thread = search.top(x, 7)
    for other in (alone, one_thread):
        assert (other.indptr == together.indptr).all()
        assert (other.ids == together.ids).all()
        assert (other.scores == together.scores).all()


def test_labels_carry_the_score_of_their_cluster() -> None:
    members = np.array([5, 1, 3, 0, 1], np.int32)
    shortlist = MetaShortlist(np.eye(3, dtype=np.float32), np.array([0, 2, 2, 5]), members)
    clusters = Candidates.from_padded(
        np.array([[2, 0], [1, -1], [-1, -1], [0, 2]]), np.array([[0.25, 0.5], [1, 0], [0, 0], [0, 0.125]])
    )
    labels = shortlist.expand(clusters)
    assert labels.counts.tolist() == [4, 0, 0, 4]
    assert labels.ids.tolist() == [0, 1, 3, 5] * 2
    # Label 1 is in both clusters.
    assert labels.scores.tolist() == [0.25, 0.5, 0.25, 0.5, 0.125, 0.125, 0.125, 0]


def test_clusters_and_labels_of_many_documents() -> None:
    rng = np.random.default_rng(1)
    cluster_of = rng.integers(0, 40, 150)
    order = np.argsort(cluster_of, kind="stable")
    ptr = np.concatenate([[0], np.cumsum(np.bincount(cluster_of, minlength=40))])
    shortlist = MetaShortlist(rng.normal(size=(40, 5)).astype(np.float32), ptr, order)
    clusters = shortlist.top_clusters(rng.normal(size=(70, 5)).astype(np.float32), 6)
    expected = np.full((70, 40), np.nan, np.float32)
    expected[clusters.rows, clusters.ids] = clusters.scores
    labels = shortlist.expand(clusters)
    found = np.full((70, 150), np.nan, np.float32)
    found[labels.rows, labels.ids] = labels.scores
    assert np.array_equal(found, expected[:, cluster_of], equal_nan=True)
    assert all((np.diff(labels.take(i, i + 1).ids) > 0).all() for i in range(70))


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match="3 classifiers, but 2 clusters"):
        MetaShortlist(np.eye(3, dtype=np.float32), np.array([0, 2, 5]), np.arange(5))
    with pytest.raises(UsageError, match="4 dimensions"):
        ClusterSearch(np.eye(3, dtype=np.float32)).top(np.ones((1, 4), np.float32), 1)
    with pytest.raises(UsageError, match="size"):
        ClusterSearch(np.eye(3, dtype=np.float32)).top(np.ones((1, 3), np.float32), 0)
