import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array

from longtail import threads
from longtail.cluster.two_means import balanced_codes


def unit_rows(dense: np.ndarray) -> csr_array:
    norms = np.linalg.norm(dense, axis=1, keepdims=True)
    return csr_array(np.divide(dense, norms, out=np.zeros_like(dense), where=norms > 0).astype(np.float32))


def test_two_obvious_groups_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    dense = np.zeros((20, 6))
    dense[::2, :3] = 1 + rng.random((10, 3))
    dense[1::2, 3:] = 1 + rng.random((10, 3))
    codes = balanced_codes(unit_rows(dense), depth=1)
    assert len(set(codes[::2])) == len(set(codes[1::2])) == 1
    assert codes[0] != codes[1]


def test_codes_nest_by_their_binary_prefix() -> None:
    # Four groups; two pairs share a feature, so the first split must keep the pairs together.
    dense = np.kron(np.eye(4), np.ones((8, 2)))
    dense[:16, 0] += 1.0
    dense[16:, 4] += 1.0
    codes = balanced_codes(unit_rows(dense), depth=2, seed=3)
    groups = codes.reshape(4, 8)
    assert all(len(set(group)) == 1 for group in groups)
    assert groups[0, 0] >> 1 == groups[1, 0] >> 1 != groups[2, 0] >> 1 == groups[3, 0] >> 1


@given(n=st.integers(1, 70), depth=st.integers(0, 4), seed=st.integers(0, 5))
def test_clusters_have_equal_sizes(n: int, depth: int, seed: int) -> None:
    rows = csr_array(random_array((n, 12), density=0.4, rng=np.random.default_rng(seed)).astype(np.float32))
    sizes = np.bincount(balanced_codes(rows, depth, seed), minlength=2**depth)
    assert sizes.sum() == n
    assert sizes.max() - sizes.min() <= 1 or n < 2**depth


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_number_of_threads_changes_nothing(jobs: int) -> None:
    rows = csr_array(random_array((300, 50), density=0.1, rng=np.random.default_rng(1)).astype(np.float32))
    with threads.limit(jobs):
        codes = balanced_codes(rows, 5, seed=2)
    assert (codes == balanced_codes(rows, 5, seed=2)).all()


def test_the_seed_matters_and_repeats() -> None:
    rows = csr_array(random_array((200, 50), density=0.1, rng=np.random.default_rng(1)).astype(np.float32))
    assert (balanced_codes(rows, 4, seed=1) == balanced_codes(rows, 4, seed=1)).all()
    assert (balanced_codes(rows, 4, seed=1) != balanced_codes(rows, 4, seed=2)).any()
