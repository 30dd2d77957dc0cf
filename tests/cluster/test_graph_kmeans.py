"""Clusters that are there are found, none is above its limit, and the same seed finds the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail.cluster.graph_kmeans import capped_codes, mini_batch_codes, random_codes
from longtail.errors import UsageError


def heaps(sizes: list[int], seed: int = 0, noise: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Unit rows around directions far from each other, and the heap of each."""
    rng = np.random.default_rng(seed)
    heap = np.repeat(np.arange(len(sizes)), sizes)
    rows = np.eye(len(sizes))[heap] + noise * rng.standard_normal((len(heap), len(sizes)))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.astype(np.float32), heap


def purity(codes: np.ndarray, heap: np.ndarray) -> float:
    return sum(np.bincount(heap[codes == code]).max() for code in np.unique(codes)) / len(heap)


@pytest.mark.parametrize("batch", [8, 1000])
def test_heaps_are_found(batch: int) -> None:
    rows, heap = heaps([40, 30, 50, 20])
    assert purity(mini_batch_codes(rows, 8, batch=batch), heap) == 1
    assert purity(capped_codes(csr_array(rows), 8, largest=1000), heap) == 1


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=5), st.integers(1, 8), st.integers(1, 12), st.booleans()
)
def test_every_row_has_a_cluster_and_none_is_too_large(
    sizes: list[int], k: int, largest: int, sparse: bool
) -> None:
    rows, _ = heaps(sizes)
    codes = capped_codes(csr_array(rows) if sparse else rows, k, largest=largest)
    counts = np.bincount(codes, minlength=1)
    assert len(codes) == len(rows)
    assert (counts > 0).all()
    assert counts.max() <= largest


def test_rows_that_are_all_the_same_are_cut_into_pieces() -> None:
    rows = np.tile(np.array([[0.6, 0.8]], np.float32), (25, 1))
    for given_rows in (rows, csr_array(rows)):
        assert np.bincount(capped_codes(given_rows, 3, largest=10)).max() <= 10


def test_the_same_seed_finds_the_same() -> None:
    rows, _ = heaps([30, 30, 30], noise=0.8)
    assert (capped_codes(rows, 5, largest=20, seed=3) == capped_codes(rows, 5, largest=20, seed=3)).all()
    assert (mini_batch_codes(rows, 5, 1) != mini_batch_codes(rows, 5, 2)).any()


def test_random_clusters_are_even() -> None:
    codes = random_codes(100, 7, seed=1)
    assert set(np.bincount(codes)) <= {14, 15}
    assert (codes != random_codes(100, 7, seed=2)).any()
    assert sorted(random_codes(3, 7)) == [0, 1, 2]
    assert len(random_codes(0, 7)) == 0


def test_few_rows_and_nonsense() -> None:
    rows, _ = heaps([1])
    assert capped_codes(rows, 5, largest=3).tolist() == [0]
    assert mini_batch_codes(rows, 5).tolist() == [0]
    with pytest.raises(UsageError, match="at least 1"):
        capped_codes(rows, 0, largest=3)
