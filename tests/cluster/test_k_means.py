import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array

from longtail import threads
from longtail.cluster.k_means import spherical_codes
from longtail.cluster.label_tree import unit_rows


def sparse(n: int, width: int, seed: int) -> csr_array:
    rows = random_array(
        (n, width), density=0.2, format="csr", dtype=np.float32, rng=np.random.default_rng(seed)
    )
    return unit_rows(csr_array(rows))


@given(n=st.integers(1, 90), k=st.integers(1, 80), seed=st.integers(0, 5))
def test_codes_have_no_gaps_and_are_at_most_k(n: int, k: int, seed: int) -> None:
    codes = spherical_codes(sparse(n, 12, seed), k, seed)
    assert codes.shape == (n,)
    assert set(codes) == set(range(len(set(codes))))
    assert len(set(codes)) <= min(k, n)


def test_groups_of_different_sizes_are_found() -> None:
    group = np.repeat([0, 1, 2], [20, 8, 5])
    rows = csr_array(np.eye(3, dtype=np.float32)[group])
    # Some starts have two rows of one group; those that have one of each must end with the groups.
    found = [spherical_codes(rows, 3, seed) for seed in range(40)]
    complete = [codes for codes in found if len(set(codes)) == 3]
    assert complete
    for codes in found:
        assert all(len(set(codes[group == g])) == 1 for g in range(3))


def test_a_row_is_with_its_nearest_centroid_when_settled() -> None:
    rows = sparse(200, 15, 1)
    codes = spherical_codes(rows, 40, seed=4, rounds=100)
    dense = rows.toarray()
    centroids = np.stack([dense[codes == c].sum(axis=0) for c in range(codes.max() + 1)])
    centroids /= np.maximum(np.linalg.norm(centroids, axis=1, keepdims=True), 1e-12)
    cosines = dense @ centroids.T
    assert np.allclose(cosines[np.arange(200), codes], cosines.max(axis=1), atol=1e-5)


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_number_of_threads_changes_nothing(jobs: int) -> None:
    rows = sparse(300, 50, 1)
    with threads.limit(jobs):
        codes = spherical_codes(rows, 70, seed=2)
    assert (codes == spherical_codes(rows, 70, seed=2)).all()


def test_the_seed_matters() -> None:
    rows = sparse(200, 50, 1)
    assert (spherical_codes(rows, 10, seed=1) != spherical_codes(rows, 10, seed=2)).any()
    assert (spherical_codes(rows, 10, seed=(1, 2)) != spherical_codes(rows, 10, seed=(1, 3))).any()
