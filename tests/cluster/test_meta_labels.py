import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail.cluster.meta_labels import (
    assignment,
    cluster_graph,
    meta_labels,
    nearest_power_of_two,
    smoothed_centroids,
)
from longtail.errors import UsageError


def centroids(n: int, seed: int, sparse: bool) -> csr_array | np.ndarray:
    rng = np.random.default_rng(seed)
    dense = (rng.random((n, 7)) * (rng.random((n, 7)) < 0.6) * (rng.random((n, 1)) < 0.8)).astype(np.float32)
    return csr_array(dense) if sparse else dense


@given(
    n=st.integers(1, 90),
    seed=st.integers(0, 50),
    power=st.integers(0, 5),
    heads=st.sampled_from([0.0, 0.2, 1.0]),
    sparse=st.booleans(),
)
def test_clusters_are_balanced_full_and_heads_are_apart(
    n: int, seed: int, power: int, heads: float, sparse: bool
) -> None:
    marks = np.random.default_rng(seed).random(n) < heads
    rows = centroids(n, seed, sparse)
    before = rows.copy()
    codes, n_clusters = meta_labels(rows, clusters=2**power, heads=marks, seed=seed)
    assert abs(before - rows).max() == 0
    assert codes.dtype == np.int64
    assert sorted(set(codes)) == list(range(n_clusters))
    assert not set(codes[marks]) & set(codes[~marks])
    for group in (codes[marks], codes[~marks]):
        if len(group):
            _, sizes = np.unique(group, return_counts=True)
            assert sizes.max() - sizes.min() <= 1
    if (~marks).sum() >= 2**power:
        assert len(set(codes[~marks])) == 2**power
        if marks.any() and marks.sum() * 2**power >= 2 * (~marks).sum():
            ratio = (marks.sum() / len(set(codes[marks]))) / ((~marks).sum() / 2**power)
            # Clusters are a power of two and no more than head labels: 7 of them make 4 clusters, not 8.
            assert 0.6 < ratio < 2


@pytest.mark.parametrize("sparse", [True, False])
def test_alike_labels_share_a_cluster_whatever_their_length(sparse: bool) -> None:
    rows = np.kron(np.eye(4), np.ones((3, 1))).astype(np.float32) * np.arange(1, 13)[:, None]
    codes = meta_labels(csr_array(rows) if sparse else rows, clusters=4, seed=1).codes.reshape(4, 3)
    # Three rows a group and four clusters: halves of 6 and 6, then 3 and 3, along the groups.
    assert (codes == codes[:, :1]).all()
    assert len(set(codes[:, 0])) == 4


@pytest.mark.parametrize("sparse", [True, False])
def test_labels_without_centroids_are_spread_evenly(sparse: bool) -> None:
    rows = np.zeros((40, 3), np.float32)
    codes, n_clusters = meta_labels(csr_array(rows) if sparse else rows, clusters=8)
    assert n_clusters == 8
    assert (np.bincount(codes) == 5).all()


@given(st.integers(1, 10_000))
def test_the_nearest_power_of_two(x: int) -> None:
    powers = [2**i for i in range(1, 15)]
    assert nearest_power_of_two(x) == min(powers, key=lambda power: (abs(power - x), power))


def test_four_labels_a_cluster() -> None:
    assert nearest_power_of_two(131_073 / 4) == 2**15
    assert nearest_power_of_two(0.25) == 2


@given(seed=st.integers(0, 500), keep=st.integers(1, 6))
def test_the_cluster_graph_as_in_the_dense_product(seed: int, keep: int) -> None:
    rng = np.random.default_rng(seed)
    G = csr_array((rng.integers(1, 9, (20, 20)) * (rng.random((20, 20)) < 0.15)).astype(np.float32))
    codes = rng.permutation(np.arange(20) % 6)
    M = np.zeros((20, 6))
    M[np.arange(20), codes] = 1
    M /= M.sum(axis=0)
    assert np.allclose(assignment(codes, 6).toarray(), M)
    assert np.allclose(assignment(codes, 6).sum(axis=0), 1)
    exact = M.T @ G.toarray() @ M
    found = cluster_graph(G, codes, 6, keep)
    assert found.dtype == np.float32
    for row in range(6):
        kept = found.indices[found.indptr[row] : found.indptr[row + 1]]
        assert len(kept) == min(keep, np.count_nonzero(exact[row]))
        assert np.allclose(found.toarray()[row, kept], exact[row, kept])
        assert row in kept or exact[row, row] == 0
        dropped = np.setdiff1d(np.arange(6), kept)
        others = kept[kept != row]
        if len(others) and len(dropped):
            assert exact[row, others].min() >= exact[row, dropped].max() - 1e-6


def test_centroids_are_smoothed_in_either_form() -> None:
    rng = np.random.default_rng(0)
    G, C = rng.random((4, 4)).astype(np.float32), rng.random((4, 3)).astype(np.float32)
    dense, sparse = smoothed_centroids(csr_array(G), C), smoothed_centroids(csr_array(G), csr_array(C))
    assert isinstance(dense, np.ndarray)
    assert isinstance(sparse, csr_array)
    assert np.allclose(dense, G @ C)
    assert np.allclose(sparse.toarray(), G @ C)


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(UsageError, match="power of two, not 6"):
        meta_labels(np.ones((8, 2)), clusters=6)
    with pytest.raises(UsageError, match="8 labels"):
        meta_labels(np.ones((8, 2)), clusters=2, heads=np.ones(3, bool))
    with pytest.raises(UsageError, match="at least 1 edge"):
        cluster_graph(csr_array(np.eye(2)), np.array([0, 1]), 2, 0)
