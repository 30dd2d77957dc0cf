import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail.errors import UsageError
from longtail.metrics.clusters import lost_bits, mutual_information, mutual_information_loss
from tests.metrics.worlds import matrix, random_world


def test_information_by_hand():
    assert mutual_information(matrix([[0], [1]], 2)) == pytest.approx(np.log(2))
    assert mutual_information(matrix([[0, 1], [0, 1]], 2)) == pytest.approx(0)


def test_one_cluster_loses_all_and_one_each_loses_nothing():
    Y = matrix([[0, 1], [2, 3], [3]], 4)
    assert mutual_information_loss(Y, np.arange(4)) == pytest.approx(0)
    assert mutual_information_loss(Y, np.zeros(4, int)) == pytest.approx(1)
    assert lost_bits(Y, np.arange(4)) == pytest.approx(0, abs=1e-12)
    assert lost_bits(matrix([[0], [1]], 2), np.zeros(2, int)) == pytest.approx(1)


def test_labels_of_the_same_documents_can_be_joined_for_free():
    Y = matrix([[0, 1], [0, 1], [2, 3], [2, 3]], 4)
    assert mutual_information_loss(Y, np.array([0, 0, 1, 1])) == pytest.approx(0, abs=1e-12)
    assert mutual_information_loss(Y, np.array([0, 1, 0, 1])) == pytest.approx(1)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000))
def test_coarser_clusters_lose_more(seed):
    truth, _ = random_world(seed)
    Y = matrix(truth, 25)
    fine = np.random.default_rng(seed).integers(0, 8, 25)
    assert 0 <= mutual_information_loss(Y, fine) <= mutual_information_loss(Y, fine // 2) + 1e-12 <= 1 + 1e-12


def information(joint):
    """Mutual information of a dense joint distribution, in bits, cell by cell."""
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    return sum(p * np.log2(p / (rows[i] * columns[j])) for (i, j), p in np.ndenumerate(joint) if p > 0)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000), st.integers(1, 6))
def test_the_loss_is_that_of_the_dense_sums(seed, n_clusters):
    rng = np.random.default_rng(seed)
    dense = (rng.random((9, 7)) < 0.4).astype(float)
    dense[0, 0] = 1
    clusters = rng.integers(0, n_clusters, 7)
    joint = dense / dense.sum()
    merged = np.stack([joint[:, clusters == c].sum(axis=1) for c in range(n_clusters)], axis=1)
    whole, kept = information(joint), information(merged)
    Y = csr_array(dense)
    assert lost_bits(Y, clusters) == pytest.approx(whole - kept, abs=1e-9)
    if whole > 1e-12:
        assert mutual_information_loss(Y, clusters) == pytest.approx((whole - kept) / whole, abs=1e-9)


def test_edges():
    assert mutual_information_loss(matrix([[]], 2), np.array([0, 1])) == 0
    assert lost_bits(matrix([[]], 2), np.array([0, 1])) == 0
    with pytest.raises(UsageError, match="1 cluster numbers for 2 labels"):
        mutual_information_loss(matrix([[0]], 2), np.array([0]))
    with pytest.raises(UsageError, match="label 1 has the negative"):
        mutual_information_loss(matrix([[0]], 2), np.array([0, -1]))
