import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail import threads
from longtail.errors import UsageError
from longtail.graph.pruning import drop_distant, strongest
from tests.graph.worlds import graph, matrix, pruned, seeds


@given(seed=seeds, keep=st.integers(1, 10))
def test_the_strongest_edges_stay_and_the_diagonal_always(seed: int, keep: int) -> None:
    G = graph(seed)
    assert (strongest(G, keep).toarray() == pruned(G.toarray(), keep)).all()


def test_equal_edges_go_by_the_smaller_column() -> None:
    assert (strongest(matrix([[0, 2, 2, 2]]), 2).toarray() == [[0, 2, 2, 0]]).all()


def test_the_graph_itself_stays_as_it_is() -> None:
    G = graph(1)
    before = G.toarray()
    strongest(G, 1)
    drop_distant(G, np.random.default_rng(0).standard_normal((8, 3)), 0.5)
    assert (G.toarray() == before).all()


@given(seed=seeds, limit=st.sampled_from([0.3, 1.0, 1.5]))
def test_edges_between_distant_nodes_go(seed: int, limit: float) -> None:
    G, vectors = graph(seed), np.random.default_rng(seed).standard_normal((8, 5))
    vectors[3] = 0
    norms = np.linalg.norm(vectors, axis=1)
    with np.errstate(invalid="ignore"):
        distance = 1 - (vectors @ vectors.T) / np.outer(norms, norms)
    keep = ~(distance > limit) | np.eye(8, dtype=bool)
    assert (drop_distant(G, vectors, limit).toarray() == np.where(keep, G.toarray(), 0)).all()


def test_a_right_angle_is_a_distance_of_one_and_stays() -> None:
    G = matrix(np.ones((3, 3)))
    near = drop_distant(G, np.array([[1, 0], [0, 1], [-1, 0]])).toarray()
    assert (near == [[1, 1, 0], [1, 1, 1], [0, 1, 1]]).all()


def test_threads_change_nothing() -> None:
    G, vectors = graph(5, n=3000, density=0.003), np.random.default_rng(0).standard_normal((3000, 4))
    results = []
    for jobs in (1, 2):
        with threads.limit(jobs):
            results.append((strongest(G, 3), drop_distant(G, vectors)))
    assert (results[0][0] != results[1][0]).nnz == (results[0][1] != results[1][1]).nnz == 0


def test_embeddings_fit_the_graph() -> None:
    with pytest.raises(UsageError, match="an embedding a node"):
        drop_distant(graph(0), np.zeros((7, 2)))
