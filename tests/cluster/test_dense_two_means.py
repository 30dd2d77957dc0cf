import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail import threads
from longtail.cluster.dense_two_means import balanced_dense_codes
from longtail.cluster.two_means import balanced_codes


def unit_rows(n: int, width: int, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((n, width)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@given(n=st.integers(0, 80), depth=st.integers(0, 4), seed=st.integers(0, 5))
def test_clusters_have_equal_sizes(n: int, depth: int, seed: int) -> None:
    codes = balanced_dense_codes(unit_rows(n, 6, seed), depth, seed)
    sizes = np.bincount(codes, minlength=2**depth)
    assert sizes.sum() == n
    assert len(sizes) == 2**depth
    assert sizes.max() - sizes.min() <= 1


@given(seed=st.integers(0, 30), depth=st.integers(1, 3))
def test_the_same_clusters_as_for_sparse_rows(seed: int, depth: int) -> None:
    # Rounding could tell the two apart only on ties: values are halves here, so sums are exact.
    groups = np.random.default_rng(seed).permutation(np.repeat(np.arange(8), 6))
    rows = np.eye(8, dtype=np.float32)[groups]
    dense, sparse = balanced_dense_codes(rows, depth, seed), balanced_codes(csr_array(rows), depth, seed)
    assert (dense == sparse).all()


def test_two_obvious_groups_are_told_apart() -> None:
    rows = unit_rows(40, 5, 0)
    rows[::2, 0] += 4
    rows[1::2, 0] -= 4
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    codes = balanced_dense_codes(rows, 1)
    assert len(set(codes[::2])) == len(set(codes[1::2])) == 1
    assert codes[0] != codes[1]


def test_threads_change_nothing_and_the_seed_matters() -> None:
    rows = unit_rows(3000, 8, 1)
    results = []
    for jobs in (1, 2):
        with threads.limit(jobs):
            results.append(balanced_dense_codes(rows, 8, seed=2))
    assert (results[0] == results[1]).all()
    assert (results[0] != balanced_dense_codes(rows, 8, seed=3)).any()
