import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail.errors import UsageError
from longtail.graph.new_nodes import extend
from longtail.graph.normalise import symmetric
from tests.graph.worlds import graph, matrix, seeds


@given(seed=seeds, keep=st.integers(1, 6), n=st.integers(0, 5))
def test_old_rows_keep_their_bits_and_new_rows_sum_to_one(seed: int, keep: int, n: int) -> None:
    G = symmetric(graph(seed))
    rng = np.random.default_rng(seed)
    rows = matrix(rng.random((n, 8)) * (rng.random((n, 8)) < 0.5))
    longer = extend(G, rows, keep)
    assert longer.shape == (8 + n, 8 + n)
    assert longer.data[: G.nnz].tobytes() == G.data.tobytes()
    assert (longer.indices[: G.nnz] == G.indices).all()
    assert (longer.indptr[:9] == G.indptr).all()
    new = longer.toarray()[8:]
    assert np.allclose(new.sum(axis=1), 1)
    for row, wanted in zip(new, rows.toarray(), strict=True):
        assert set(np.flatnonzero(row[:8])) == set(np.argsort(-wanted)[: keep - 1]) & set(
            np.flatnonzero(wanted)
        )
    assert np.count_nonzero(new[:, 8:]) == n
    assert (np.diag(new[:, 8:]) > 0).all()


def test_half_for_itself_and_half_for_its_neighbours() -> None:
    longer = extend(symmetric(graph(0, n=3)), matrix([[3, 1, 0], [0, 0, 0], [-1, 0, 2]]), 3).toarray()
    assert (longer[3:] == [[0.375, 0.125, 0, 0.5, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0.5, 0, 0, 0.5]]).all()


def test_a_graph_that_is_extended_twice() -> None:
    once = extend(symmetric(graph(0)), matrix([[1] * 8]))
    twice = extend(once, csr_array((1, 9), dtype=np.float32))
    assert (twice[:9, :9] != once).nnz == 0
    assert twice[9, 9] == 1


def test_rows_must_fit() -> None:
    with pytest.raises(UsageError, match="do not fit"):
        extend(graph(0), csr_array((1, 7), dtype=np.float32))
    with pytest.raises(UsageError, match="at least 1 edge"):
        extend(graph(0), csr_array((1, 8), dtype=np.float32), 0)
