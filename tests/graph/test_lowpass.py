"""The filter against a dense matrix power, and the sampled one against the exact one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail.errors import UsageError
from longtail.graph.label_correlation import label_correlation
from longtail.graph.lowpass import _chances, lowpass, sampled_lowpass
from longtail.graph.normalise import symmetric


def world(n: int, degree: int, seed: int = 0) -> tuple[csr_array, np.ndarray]:
    """A symmetric graph with self-loops, the last node alone, and features of unit length."""
    rng = np.random.default_rng(seed)
    A = np.zeros((n, n))
    for i in range(n - 1):
        for j in rng.integers(0, n - 1, degree):
            A[i, j] = A[j, i] = rng.random()
    np.fill_diagonal(A, 0.75)
    Z = rng.standard_normal((n, 8))
    return csr_array(A.astype(np.float32)), (Z / np.linalg.norm(Z, axis=1, keepdims=True)).astype(np.float32)


def power(graph: csr_array, Z: np.ndarray, order: int) -> np.ndarray:
    A = graph.toarray().astype(float)
    D = np.diag(A.sum(axis=1) ** -0.5)
    laplacian = np.eye(len(A)) - D @ A @ D
    return np.linalg.matrix_power(np.eye(len(A)) - laplacian / 2, order) @ Z


@given(st.integers(2, 20), st.integers(1, 4), st.integers(0, 5), st.integers(0, 10))
def test_it_is_the_matrix_power(n: int, degree: int, order: int, seed: int) -> None:
    graph, Z = world(n, degree, seed)
    assert np.allclose(lowpass(graph, Z, order), power(graph, Z, order), atol=1e-5)
    sparse = lowpass(graph, csr_array(Z), order)
    assert isinstance(sparse, csr_array)
    assert np.allclose(sparse.toarray(), power(graph, Z, order), atol=1e-5)


def test_a_node_alone_stays_as_it_is() -> None:
    graph, Z = world(10, 2)
    assert (lowpass(graph, Z, 3)[-1] == Z[-1]).all()
    assert np.allclose(sampled_lowpass(graph, Z, 3, sample=3)[-1], Z[-1])


def test_a_sample_of_all_nodes_is_exact_in_any_batch() -> None:
    graph, Z = world(40, 3)
    for batch in (1, 7, 100):
        found = sampled_lowpass(graph, Z, 3, sample=40, batch=batch)
        assert np.allclose(found, lowpass(graph, Z, 3), atol=1e-6)


def test_the_mean_of_samples_is_the_exact_answer() -> None:
    graph, Z = world(60, 3)
    exact = lowpass(graph, Z, 3)
    mean = np.mean([sampled_lowpass(graph, Z, 3, sample=30, seed=seed) for seed in range(200)], axis=0)
    assert np.linalg.norm(mean - exact) < 0.05 * np.linalg.norm(exact)


def test_the_error_of_a_step_is_the_one_that_is_stated() -> None:
    """Even where neighbours have nothing in common and outweigh the node itself, which is the worst case."""
    graph, Z = world(200, 4)
    S = symmetric(graph).toarray().astype(float)
    np.fill_diagonal(S, 0)
    p = _chances(csr_array(S), 80)
    assert p.sum() == pytest.approx(80, rel=0.01)
    stated = ((1 - p) / p * (S**2).sum(axis=0) * (Z**2).sum(axis=1))[p > 1e-6].sum() / 4
    exact = lowpass(graph, Z, 1)
    found = [((sampled_lowpass(graph, Z, 1, sample=80, seed=s) - exact) ** 2).sum() for s in range(300)]
    assert np.mean(found) == pytest.approx(stated, rel=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_half_of_the_labels_are_within_the_stated_distance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, 100, 4000)
    Y = (rng.random((4000, 600)) < np.where(topic[:, None] == np.arange(600) % 100, 0.5, 0.002)).astype(
        np.float32
    )
    graph = label_correlation(csr_array(Y))
    assert graph.nnz > 1200
    Z = rng.standard_normal((600, 16)).astype(np.float32)
    exact = lowpass(graph, Z, 3)
    found = sampled_lowpass(graph, Z, 3, sample=300, batch=100, seed=seed)
    assert np.linalg.norm(found - exact) < 0.15 * np.linalg.norm(exact)


def test_the_same_seed_gives_the_same_answer() -> None:
    graph, Z = world(50, 3)
    one, other = (sampled_lowpass(graph, Z, 2, sample=20, seed=5, batch=b) for b in (11, 50))
    assert np.allclose(one, other, atol=1e-6)
    assert not np.allclose(one, sampled_lowpass(graph, Z, 2, sample=20, seed=6))


def test_order_0_changes_nothing() -> None:
    graph, Z = world(6, 2)
    assert (lowpass(graph, Z, 0) == Z).all()
    assert (sampled_lowpass(graph, Z, 0, sample=2) == Z).all()


def test_nonsense_is_refused() -> None:
    graph, Z = world(6, 2)
    with pytest.raises(UsageError, match="does not fit"):
        lowpass(graph, Z[:5], 1)
    with pytest.raises(UsageError, match="at least 0"):
        lowpass(graph, Z, -1)
    with pytest.raises(UsageError, match="at least 1"):
        sampled_lowpass(graph, Z, 1, sample=0)
