import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail import threads
from longtail.errors import UsageError
from longtail.graph.joint import joint_graph
from longtail.graph.neighbours import sample
from tests.graph.worlds import label_matrix, matrix, seeds

STAR = joint_graph(matrix(np.ones((1, 8))))
"""Node 0 is a document with the labels 1 to 8."""


def drawn(n_seeds: int, fanout: int, *, hop: int = 1, hidden: float = 0.0, own: bool = True) -> np.ndarray:
    """The samples of the star's centre for many seeds, [seeds, fanout]."""
    centre = np.zeros(1, np.int64)
    marks = STAR.own if own else None
    rows = [
        sample(STAR.indptr, STAR.indices, centre, fanout, seed=seed, hop=hop, own=marks, hidden=hidden)
        for seed in range(n_seeds)
    ]
    return np.concatenate(rows)


@given(seeds, st.integers(1, 6), st.integers(1, 3))
def test_samples_are_different_neighbours_in_order(seed, fanout, hop):
    graph = joint_graph(label_matrix(seed))
    rows = sample(graph.indptr, graph.indices, np.arange(graph.n_nodes), fanout, seed=seed, hop=hop)
    assert rows.shape == (graph.n_nodes, fanout)
    assert rows.dtype == np.int32
    for node, row in enumerate(rows):
        there = set(graph.indices[graph.indptr[node] : graph.indptr[node + 1]].tolist())
        chosen = row[row >= 0].tolist()
        assert chosen == sorted(set(chosen))
        assert set(chosen) <= there
        assert len(chosen) == min(fanout, len(there))
        assert (row[len(chosen) :] == -1).all()


def test_a_sample_follows_from_the_node_alone():
    graph = joint_graph(label_matrix(1, n=60, labels=40))
    nodes = np.random.default_rng(0).integers(-1, graph.n_nodes, 10_000)
    arguments = {"seed": 5, "hop": 2, "own": graph.own, "hidden": 0.3}
    with threads.limit(1):
        all_at_once = sample(graph.indptr, graph.indices, nodes, 3, **arguments)
        each = [sample(graph.indptr, graph.indices, nodes[i : i + 1], 3, **arguments) for i in range(50)]
    with threads.limit(2):
        with_two = sample(graph.indptr, graph.indices, nodes, 3, **arguments)
    np.testing.assert_array_equal(all_at_once[:50], np.concatenate(each))
    np.testing.assert_array_equal(all_at_once, with_two)
    assert (all_at_once[nodes < 0] == -1).all()


def test_seeds_and_hops_change_samples():
    first = drawn(200, 3)
    assert len(np.unique(first, axis=0)) > 40
    assert (first != drawn(200, 3, hop=2)).any(axis=1).mean() > 0.5
    np.testing.assert_array_equal(first, drawn(200, 3))


def test_all_sets_of_neighbours_have_the_same_chance():
    rows = drawn(5600, 3)
    sets, counts = np.unique(rows, axis=0, return_counts=True)
    assert len(sets) == 56
    # Chi-square with 55 degrees of freedom: 100 is beyond the 99.98th percentile.
    assert ((counts - 100) ** 2 / 100).sum() < 100


def test_hidden_labels_are_never_sampled():
    assert (drawn(20, 3, hidden=1) == -1).all()
    assert (drawn(20, 3, hidden=1, own=False) >= 0).all()
    np.testing.assert_array_equal(drawn(20, 3, hidden=0), drawn(20, 3, own=False))


@pytest.mark.parametrize("hidden", [0.25, 0.5])
def test_each_label_is_hidden_with_the_same_chance(hidden):
    rows = drawn(2000, 8, hidden=hidden)
    shares = np.bincount(rows[rows >= 0], minlength=9)[1:] / 2000
    # Four standard deviations of a share.
    assert np.abs(shares - (1 - hidden)).max() < 4 * np.sqrt(hidden * (1 - hidden) / 2000)
    numbers = (rows >= 0).sum(axis=1)
    assert numbers.var() == pytest.approx(8 * hidden * (1 - hidden), rel=0.2)


def test_what_is_hidden_is_hidden_in_every_hop_and_the_rest_has_the_same_chance():
    visible = [set(row[row >= 0].tolist()) for row in drawn(300, 8, hop=1, hidden=0.5)]
    assert visible == [set(row[row >= 0].tolist()) for row in drawn(300, 8, hop=2, hidden=0.5)]
    few = drawn(300, 2, hop=3, hidden=0.5)
    assert all(set(row[row >= 0].tolist()) <= there for row, there in zip(few, visible, strict=True))
    assert all((row >= 0).sum() == min(2, len(there)) for row, there in zip(few, visible, strict=True))
    counts = np.bincount(drawn(4000, 2, hidden=0.5).ravel() + 1, minlength=10)[2:]
    assert counts.min() > 0.85 * counts.mean()


def test_only_a_documents_own_labels_are_hidden():
    # Documents 0 and 1 have the label 2, and a further edge.
    graph = joint_graph(matrix([[1], [1]]), edges=(np.array([0]), np.array([1])))
    hiding = {"own": graph.own, "hidden": 1}
    rows = sample(graph.indptr, graph.indices, np.arange(3), 2, seed=0, hop=1, **hiding)
    assert rows.tolist() == [[1, -1], [0, -1], [0, 1]]


@pytest.mark.parametrize(
    ("nodes", "fanout", "hidden", "message"),
    [([9], 2, 0, "no node 9"), ([-2], 2, 0, "no node -2"), ([0], 0, 0, "at least 1"), ([0], 1, 1.5, "share")],
)
def test_what_does_not_fit_is_an_error(nodes, fanout, hidden, message):
    with pytest.raises(UsageError, match=message):
        sample(STAR.indptr, STAR.indices, np.array(nodes), fanout, seed=0, hop=1, own=STAR.own, hidden=hidden)


def test_no_nodes():
    assert sample(STAR.indptr, STAR.indices, np.empty(0, np.int64), 3, seed=0, hop=1).shape == (0, 3)
