import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail.errors import UsageError
from longtail.graph.normalise import by_rows, perron, symmetric
from tests.graph.worlds import graph, matrix, seeds


@given(seed=seeds)
def test_symmetric_as_in_the_dense_formula(seed: int) -> None:
    G = graph(seed)
    dense = G.toarray().astype(float)
    rows, columns = dense.sum(axis=1), dense.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = np.where(dense > 0, dense / np.sqrt(np.outer(rows, columns)), 0)
    assert np.allclose(symmetric(G).toarray(), exact, atol=1e-6)
    assert symmetric(G).dtype == np.float32


@given(seed=seeds)
def test_by_rows_every_row_with_edges_sums_to_one(seed: int) -> None:
    G = graph(seed)
    dense = G.toarray().astype(float)
    sums = dense.sum(axis=1, keepdims=True)
    exact = np.divide(dense, sums, out=np.zeros_like(dense), where=sums > 0)
    assert np.allclose(by_rows(G).toarray(), exact, atol=1e-6)
    assert by_rows(G).dtype == np.float32


def perron_dense(dense: np.ndarray, teleport: float) -> np.ndarray:
    n, sums = len(dense), dense.sum(axis=1, keepdims=True)
    P = np.divide(dense, sums, out=np.zeros_like(dense), where=sums > 0)
    jumping = np.where(sums > 0, (1 - teleport) * P + teleport / n, 1 / n)
    values, vectors = np.linalg.eig(jumping.T)
    pi = np.abs(np.real(vectors[:, np.argmax(np.real(values))]))
    root = np.sqrt(pi / pi.sum())
    half = root[:, None] * P / root
    return (half + half.T) / 2


@given(seed=seeds, teleport=st.sampled_from([0.05, 0.1, 0.5]))
def test_perron_as_in_the_dense_formula(seed: int, teleport: float) -> None:
    G = graph(seed)
    exact = perron_dense(G.toarray().astype(float), teleport)
    normalised = perron(G, teleport=teleport).toarray()
    assert np.allclose(normalised, exact, atol=1e-5)
    assert (normalised == normalised.T).all()


@pytest.mark.parametrize("normalise", [symmetric, perron])
@pytest.mark.parametrize("loop", [1, 3, 7, 400])
def test_a_lone_self_loop_is_exactly_one(normalise, loop: int) -> None:
    dense = np.zeros((4, 4))
    dense[:3, :3] = [[5, 2, 1], [1, 7, 0], [0, 3, 2]]
    dense[3, 3] = loop
    assert (normalise(matrix(dense)).toarray()[3] == [0, 0, 0, 1]).all()
    assert (normalise(matrix(dense)).toarray()[:, 3] == [0, 0, 0, 1]).all()


@pytest.mark.parametrize("normalise", [symmetric, perron])
def test_empty_graphs(normalise) -> None:
    assert normalise(csr_array((0, 0), dtype=np.float32)).shape == (0, 0)
    assert normalise(csr_array((3, 3), dtype=np.float32)).nnz == 0


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(UsageError, match="square"):
        perron(csr_array((2, 3), dtype=np.float32))
    with pytest.raises(UsageError, match="teleport"):
        perron(graph(0), teleport=0)
