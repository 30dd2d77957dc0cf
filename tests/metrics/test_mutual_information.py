import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail.metrics.mutual_information import information_loss


def information(joint: np.ndarray) -> float:
    """Mutual information of a dense joint distribution, in bits, cell by cell."""
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    return sum(p * np.log2(p / (rows[i] * columns[j])) for (i, j), p in np.ndenumerate(joint) if p > 0)


@given(seed=st.integers(0, 1000), n_clusters=st.integers(1, 6))
def test_the_loss_as_in_the_dense_sums(seed: int, n_clusters: int) -> None:
    rng = np.random.default_rng(seed)
    dense = (rng.random((9, 7)) < 0.4).astype(float)
    dense[0, 0] = 1
    codes = rng.integers(0, n_clusters, 7)
    joint = dense / dense.sum()
    merged = np.stack([joint[:, codes == c].sum(axis=1) for c in range(n_clusters)], axis=1)
    whole, kept = information(joint), information(merged)
    loss = information_loss(csr_array(dense), codes)
    assert loss.bits == pytest.approx(whole - kept, abs=1e-9)
    assert loss.relative == pytest.approx((whole - kept) / whole if whole > 1e-12 else 0, abs=1e-9)


def test_labels_that_are_their_own_clusters_lose_nothing() -> None:
    Y = csr_array((np.random.default_rng(1).random((30, 12)) < 0.2).astype(np.float32))
    assert information_loss(Y, np.arange(12)) == pytest.approx((0, 0), abs=1e-12)


def test_one_cluster_loses_a_bit() -> None:
    assert information_loss(csr_array(np.eye(2, dtype=np.float32)), np.zeros(2, int)) == pytest.approx((1, 1))
