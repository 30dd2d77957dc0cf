"""Levels against the sets and samples they are made of, and against the sums of hops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longtail import threads
from longtail.errors import UsageError
from longtail.graph.hop_sums import combine, hop_terms
from longtail.graph.joint import JointGraph, joint_graph
from longtail.graph.layers import Layers, layers_of
from longtail.graph.neighbours import sample
from tests.graph.worlds import label_matrix, matrix, seeds

D = 5
fan_outs = st.lists(st.integers(1, 4), min_size=1, max_size=3)


def world(seed: int) -> JointGraph:
    """A graph with isolated nodes and a document that is a label."""
    same = np.full(12, -1)
    same[3] = 2
    return joint_graph(label_matrix(seed), same=same, edges=(np.array([0, 5]), np.array([1, 14])))


def check_form(layers: Layers, n: int, n_hops: int) -> None:
    assert layers.n_roots == n
    assert layers.n_hops == len(layers.neighbours) == len(layers.nodes) - 1 == n_hops
    assert len(layers.nodes[n_hops]) == 0
    for k in range(n_hops):
        above, below = layers.nodes[k + 1], layers.nodes[k]
        assert (np.diff(below) > 0).all()
        assert layers.n_rows(k) == n + len(below)
        own, places = layers.own[k], layers.neighbours[k]
        assert own.dtype == places.dtype == below.dtype == np.int64
        assert len(own) == len(places) == layers.n_rows(k + 1)
        np.testing.assert_array_equal(own[:n], np.arange(n))
        np.testing.assert_array_equal(below[own[n:] - n], above)
        assert places.max(initial=-1) < layers.n_rows(k)
        assert ((places == -1) | (places >= n)).all()
        # Nothing is there that nobody needs.
        np.testing.assert_array_equal(np.union1d(above, below[places[places >= 0] - n]), below)


def neighbours_by_number(layers: Layers, hop: int) -> np.ndarray:
    """The table of a hop with the numbers of nodes in place of places."""
    places = layers.neighbours[hop - 1]
    numbers = np.append(layers.nodes[hop - 1], -1)
    return numbers[np.where(places >= 0, places - layers.n_roots, -1)]


def linear(layers: Layers, start: np.ndarray, eps: np.ndarray) -> np.ndarray:
    """The convolution of GalaXC by levels."""
    x, orders = start, []
    for own, places, e in zip(layers.own, layers.neighbours, eps, strict=True):
        padded = np.append(x, np.zeros((1, x.shape[1])), axis=0)
        x = (1 + e) * x[own] + padded[places].sum(axis=1)
        orders.append(x[: layers.n_roots])
    return np.stack(orders, axis=1)


@given(seeds, fan_outs)
def test_neighbours_are_those_of_the_samples(seed, fanouts):
    graph = world(seed)
    roots = np.random.default_rng(seed).integers(0, graph.n_nodes, 6)
    layers = layers_of(graph, roots, fanouts, seed=seed)
    check_form(layers, 6, len(fanouts))
    for hop, fanout in enumerate(fanouts, start=1):
        rows = np.concatenate([roots, layers.nodes[hop]])
        expected = sample(graph.indptr, graph.indices, rows, fanout, seed=seed, hop=hop)
        found = neighbours_by_number(layers, hop)
        np.testing.assert_array_equal(found, expected[:, : found.shape[1]])
        assert (expected[:, found.shape[1] :] == -1).all()


@settings(max_examples=25)
@given(seeds, fan_outs, st.booleans(), st.booleans())
def test_without_weights_the_levels_give_the_sums_of_hops(seed, fanouts, with_lists, new):
    graph = world(seed)
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((graph.n_nodes, D), dtype=np.float32)
    own = rng.standard_normal((7, D), dtype=np.float32)
    nodes = rng.integers(0, graph.n_nodes, 7)
    lists = rng.integers(-1, graph.n_nodes, (7, 5)) if with_lists or new else None
    if new:
        nodes[::2] = -1
    layers = layers_of(graph, nodes, fanouts, seed=seed, neighbours_of=lists)
    check_form(layers, 7, len(fanouts))
    terms = hop_terms(vectors, graph, nodes, fanouts, seed=seed, neighbours_of=lists, own_vectors=own)
    eps = rng.random(len(fanouts))
    found = linear(layers, np.concatenate([own, vectors[layers.nodes[0]]]), eps)
    np.testing.assert_allclose(found, np.stack(combine(terms, eps), axis=1), rtol=1e-4, atol=1e-4)


def test_a_root_that_is_met_on_the_way_is_a_node_with_the_graphs_neighbours():
    # Documents 0 and 1 share label 2; only document 1 has label 3.
    graph = joint_graph(matrix([[1, 0], [1, 1]]))
    layers = layers_of(graph, np.array([0]), (4, 4), seed=0, neighbours_of=np.array([[1, 0, -1, 3]]))
    assert [level.tolist() for level in layers.nodes] == [[1, 2, 3], [1, 3], []]
    assert layers.own[1].tolist() == [0]
    assert layers.own[0].tolist() == [0, 1, 3]
    numbers = [[row[row >= 0].tolist() for row in neighbours_by_number(layers, hop)] for hop in (1, 2)]
    assert numbers == [[[1, 3], [2, 3], [1]], [[1, 3]]]

    # Label 2 leads back to document 0: that is not the root's row.
    layers = layers_of(graph, np.array([0]), (4, 4), seed=0)
    assert [level.tolist() for level in layers.nodes] == [[0, 1, 2], [2], []]
    assert layers.neighbours[0].tolist() == [[3, -1], [1, 2]]


def test_new_documents_are_roots_without_a_node():
    graph = joint_graph(matrix([[1, 0], [1, 1]]))
    lists = np.array([[-1, 2, -1, 0], [-1, -1, -1, -1]], np.int32)
    layers = layers_of(graph, None, (1, 2), seed=0, neighbours_of=lists)
    check_form(layers, 2, 2)
    assert neighbours_by_number(layers, 2).tolist() == [[2, 0], [-1, -1]]
    assert neighbours_by_number(layers, 1)[:2].tolist() == [[2], [-1]]


def test_lists_may_be_shorter_or_longer_than_fan_outs():
    graph = joint_graph(matrix(np.ones((3, 6))))
    for width in (0, 1, 8):
        lists = np.arange(width)[None]
        layers = layers_of(graph, None, (3,), seed=0, neighbours_of=lists)
        assert layers.neighbours[0].shape == (1, 3)
        found = layers.nodes[0].tolist()
        assert found == lists[0, :3].tolist()


def test_isolated_nodes_and_graphs_without_edges():
    graph = joint_graph(matrix(np.zeros((2, 3))))
    layers = layers_of(graph, np.array([0, 4, 0]), (4, 3), seed=0)
    check_form(layers, 3, 2)
    assert layers.n_rows(0) == 3
    assert all((places == -1).all() for places in layers.neighbours)


def test_all_neighbours_need_no_wider_tables_than_there_are_neighbours():
    graph = world(0)
    degree = np.diff(graph.indptr).max()
    layers = layers_of(graph, np.arange(graph.n_nodes), (10**9, 2), seed=0)
    assert layers.neighbours[0].shape[1] == degree
    assert layers.neighbours[1].shape[1] == 2
    connected = np.flatnonzero(np.diff(graph.indptr))
    np.testing.assert_array_equal(
        (layers.neighbours[0][connected] >= 0).sum(axis=1), np.diff(graph.indptr)[connected]
    )


def test_cost_is_bounded_by_the_nodes_of_the_graph():
    graph = joint_graph(matrix(np.ones((20, 20))))
    layers = layers_of(graph, np.zeros(3, np.int64), [20] * 6, seed=0)
    assert max(layers.n_rows(k) for k in range(7)) == 3 + graph.n_nodes


def test_no_roots():
    for lists in (None, np.empty((0, 4), np.int64)):
        layers = layers_of(world(0), np.empty(0, np.int64), (4, 3), seed=0, neighbours_of=lists)
        check_form(layers, 0, 2)
        assert layers.n_rows(0) == 0


def test_threads_change_nothing():
    graph = joint_graph(label_matrix(4, n=300, labels=80))
    roots = np.random.default_rng(1).integers(0, graph.n_nodes, 6000)
    found = []
    for number in (1, 2):
        with threads.limit(number):
            found.append(layers_of(graph, roots, (4, 3), seed=3))
    for a, b in zip(found[0].neighbours, found[1].neighbours, strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_does_not_fit_is_an_error():
    graph, node = world(0), np.array([0])
    wrong = [
        (lambda: layers_of(graph, np.array([99]), (2,), seed=0), "no node 99"),
        (lambda: layers_of(graph, node, (), seed=0), "at least 1 hop"),
        (lambda: layers_of(graph, node, (2, 0), seed=0), "at least 1 neighbour"),
        (lambda: layers_of(graph, None, (2,), seed=0), "neighbours_of for new"),
        (lambda: layers_of(graph, -node - 1, (2,), seed=0), "need neighbours_of"),
        (lambda: layers_of(graph, node, (2,), seed=0, neighbours_of=np.array([1])), "a row for each"),
        (lambda: layers_of(graph, node, (2,), seed=0, neighbours_of=np.array([[92]])), "no node 92"),
    ]
    for call, message in wrong:
        with pytest.raises(UsageError, match=message):
            call()
