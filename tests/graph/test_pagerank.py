import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail import threads
from longtail.errors import UsageError
from longtail.graph.pagerank import personalised_neighbours
from tests.graph.worlds import graph, label_matrix, matrix, seeds


def ranks(own: np.ndarray, G: np.ndarray, restart: float, rounds: int) -> np.ndarray:
    sums = G.sum(axis=1, keepdims=True)
    P = np.where(sums > 0, G / np.maximum(sums, 1e-30), np.eye(len(G)))
    start = own / own.sum()
    p = start
    for _ in range(rounds):
        p = restart * start + (1 - restart) * p @ P
    return p


@given(
    seed=seeds, restart=st.sampled_from([0.0, 0.15, 0.6]), rounds=st.integers(1, 12), size=st.integers(1, 10)
)
def test_neighbours_as_in_the_dense_iteration(seed: int, restart: float, rounds: int, size: int) -> None:
    G = graph(seed, density=0.3)
    Y = label_matrix(seed, labels=8)
    found = personalised_neighbours(Y, G, restart=restart, rounds=rounds, size=size, bound=8)
    assert found.dtype == np.int32
    assert found.shape == (12, size)
    for own, row in zip(Y.toarray(), found, strict=True):
        labels = row[row >= 0]
        assert (row[len(labels) :] == -1).all()
        if not own.any():
            assert len(labels) == 0
            continue
        p = ranks(own.astype(float), G.toarray().astype(float), restart, rounds)
        assert not own[labels].any()
        others = p * (own == 0)
        assert len(labels) == min(size, np.count_nonzero(others > 0))
        assert (others[labels] > 0).all()
        # Equal ranks may differ in their last bits: the ranks are compared, not the labels.
        assert np.allclose(others[labels], np.sort(others)[::-1][: len(labels)], rtol=1e-6)


def test_equal_ranks_go_by_the_smaller_label() -> None:
    star = matrix([[1, 1, 1, 1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    assert personalised_neighbours(matrix([[1, 0, 0, 0]]), star, size=2, rounds=1).tolist() == [[1, 2]]


def test_only_the_largest_entries_go_on() -> None:
    # 0 leads to 1 (strongly) and 2; with a bound of two labels 2 is dropped, and so is what lies behind it.
    G = matrix([[0, 3, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]])
    start = matrix([[1, 0, 0, 0, 0]])
    assert sorted(personalised_neighbours(start, G, size=4, rounds=2)[0]) == [1, 2, 3, 4]
    assert set(personalised_neighbours(start, G, size=4, rounds=2, restart=0.5, bound=2)[0]) == {-1, 1}


def test_scratch_is_clean_for_the_next_document_and_threads_change_nothing() -> None:
    Y = label_matrix(1, n=1500, labels=300, density=0.01)
    G = graph(2, n=300, density=0.02)
    results = []
    for jobs in (1, 2):
        with threads.limit(jobs):
            results.append(personalised_neighbours(Y, G, size=7, bound=20))
    assert (results[0] == results[1]).all()
    alone = np.concatenate([personalised_neighbours(Y[[i]], G, size=7, bound=20) for i in range(40)])
    assert (alone == results[0][:40]).all()


def test_wrong_settings_are_refused() -> None:
    Y, G = label_matrix(0, labels=8), graph(0)
    with pytest.raises(UsageError, match="8 labels"):
        personalised_neighbours(Y, csr_array((7, 7)), size=1)
    with pytest.raises(UsageError, match="probability"):
        personalised_neighbours(Y, G, size=1, restart=-1)
    with pytest.raises(UsageError, match="at least 1"):
        personalised_neighbours(Y, G, size=0)
