"""Eq. 8 against a dense computation, label by label."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from longtail.errors import UsageError
from longtail.graph.label_correlation import label_correlation


def dense(Y: np.ndarray, threshold: float, weight: float, fewest: int) -> np.ndarray:
    """The equation, written out."""
    M, N = Y.T @ Y, Y.sum(axis=0)
    n = len(N)
    B = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j and N[i] and M[i, j] >= fewest and M[i, j] / N[i] >= threshold - 1e-12:
                B[i, j] = B[j, i] = 1
    A = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j and B[i].sum():
                A[i, j] = B[i, j] * weight / B[i].sum()
    A = (A + A.T) / 2
    np.fill_diagonal(A, np.where(B.sum(axis=1) > 0, 1 - weight, 1))
    return A


@given(
    arrays(np.int8, st.tuples(st.integers(1, 12), st.integers(1, 7)), elements=st.integers(0, 1)),
    st.sampled_from([0.2, 0.4, 0.5, 1.0]),
    st.sampled_from([0.0, 0.25, 1.0]),
    st.integers(1, 3),
)
def test_it_is_the_equation(Y: np.ndarray, threshold: float, weight: float, fewest: int) -> None:
    graph = label_correlation(
        csr_array(Y.astype(np.float32)), threshold=threshold, weight=weight, fewest=fewest
    )
    assert np.allclose(graph.toarray(), dense(Y.astype(float), threshold, weight, fewest), atol=1e-6)
    assert (graph.toarray() == graph.toarray().T).all()


def test_a_label_that_was_seen_once_is_not_tied_to_all_its_company() -> None:
    Y = csr_array(np.array([[1, 1, 1, 0], [0, 1, 1, 0], [0, 1, 1, 0]], np.float32))
    graph = label_correlation(Y).toarray()
    assert (graph[0] == [1, 0, 0, 0]).all()
    assert graph[1, 2] == graph[2, 1] == np.float32(0.25)
    assert graph[1, 1] == np.float32(0.75)
    eager = label_correlation(Y, fewest=1).toarray()
    assert (eager[0, 1:3] > 0).all()


def test_isolated_labels_and_labels_without_documents_have_themselves() -> None:
    Y = csr_array(np.array([[1, 0, 0], [0, 1, 0]], np.float32))
    assert (label_correlation(Y, weight=1.0).toarray() == np.eye(3)).all()


def test_a_tie_reaches_the_threshold_exactly() -> None:
    Y = np.zeros((5, 2), np.float32)
    Y[:, 0], Y[:2, 1] = 1, 1
    # 2 of 5 is 0.4; the other way round it is 2 of 2, so the frequent label alone would not be enough.
    Y = np.concatenate([Y, np.array([[0, 1]] * 8, np.float32)])
    assert label_correlation(csr_array(Y), threshold=0.4).toarray()[0, 1] > 0
    assert label_correlation(csr_array(Y), threshold=0.41).toarray()[0, 1] == 0


@pytest.mark.parametrize("wrong", [{"threshold": 0.0}, {"threshold": 1.1}, {"weight": -0.1}, {"weight": 1.1}])
def test_nonsense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="of label correlations must be"):
        label_correlation(csr_array((2, 2), dtype=np.float32), **wrong)
