import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longtail import threads
from longtail.errors import UsageError
from longtail.graph.hop_sums import coefficient_parts, coefficients, combine, hop_terms
from longtail.graph.joint import JointGraph, joint_graph
from longtail.graph.neighbours import sample
from tests.graph.worlds import label_matrix, matrix, seeds

D = 7


def world(seed: int) -> tuple[JointGraph, np.ndarray]:
    """A graph with isolated nodes, a document that is a label, further edges; and vectors."""
    rng = np.random.default_rng(seed)
    same = np.full(12, -1)
    same[3] = 2
    edges = (np.array([0, 5]), np.array([1, 14]))
    graph = joint_graph(label_matrix(seed), same=same, edges=edges)
    return graph, rng.standard_normal((graph.n_nodes, D), dtype=np.float32)


def sums(graph: JointGraph, fanout: int, seed: int, hop: int, **masks: object) -> np.ndarray:
    """S_k as a dense matrix, by the samples of all nodes."""
    rows = sample(graph.indptr, graph.indices, np.arange(graph.n_nodes), fanout, seed=seed, hop=hop, **masks)
    dense = np.zeros((graph.n_nodes, graph.n_nodes))
    node, place = np.nonzero(rows >= 0)
    dense[node, rows[node, place]] = 1
    return dense


def products(operators: list[np.ndarray], vectors: np.ndarray) -> np.ndarray:
    terms = []
    for mask in range(2 ** len(operators)):
        term = vectors.astype(np.float64)
        for k, operator in enumerate(operators):
            if mask >> k & 1:
                term = operator @ term
        terms.append(term)
    return np.stack(terms, axis=1)


@settings(max_examples=25)
@given(seeds, st.integers(1, 3))
def test_with_all_neighbours_terms_are_powers_of_the_adjacency(seed, n_hops):
    graph, vectors = world(seed)
    adjacency = np.zeros((graph.n_nodes, graph.n_nodes))
    adjacency[np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr)), graph.indices] = 1
    terms = hop_terms(vectors, graph, np.arange(graph.n_nodes), [graph.n_nodes] * n_hops, seed=seed)
    assert terms.shape == (graph.n_nodes, 2**n_hops, D)
    assert terms.dtype == np.float32
    np.testing.assert_allclose(terms, products([adjacency] * n_hops, vectors), rtol=1e-4, atol=1e-4)


@given(seeds, st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_terms_are_products_of_the_sampled_sums(seed, fanouts):
    graph, vectors = world(seed)
    operators = [sums(graph, fanout, seed, k + 1) for k, fanout in enumerate(fanouts)]
    terms = hop_terms(vectors, graph, np.arange(graph.n_nodes), fanouts, seed=seed)
    np.testing.assert_allclose(terms, products(operators, vectors), rtol=1e-4, atol=1e-4)


def test_without_hops_the_embeddings_are_all_there_is():
    graph, vectors = world(0)
    terms = hop_terms(vectors, graph, np.arange(graph.n_nodes), (), seed=0)
    assert np.array_equal(terms, vectors[:, None])


@settings(max_examples=25)
@given(seeds, st.sampled_from([0.3, 1.0]))
def test_labels_are_hidden_from_the_row_they_belong_to_alone(seed, hidden):
    graph, vectors = world(seed)
    fanouts = (4, 3, 2)
    nodes = np.arange(graph.n_nodes)
    terms = hop_terms(vectors, graph, nodes, fanouts, seed=seed, hidden=hidden)
    for node in nodes:
        operators = []
        for k, fanout in enumerate(fanouts):
            operator = sums(graph, fanout, seed, k + 1)
            operator[node] = sums(graph, fanout, seed, k + 1, own=graph.own, hidden=hidden)[node]
            operators.append(operator)
        np.testing.assert_allclose(terms[node], products(operators, vectors)[node], rtol=1e-4, atol=1e-4)


def test_a_document_without_visible_neighbours_has_its_own_vector_alone():
    graph = joint_graph(matrix([[1, 0], [1, 0]]))
    vectors = np.arange(8, dtype=np.float32).reshape(4, 2)
    terms = hop_terms(vectors, graph, np.array([0, 3]), (4, 3, 2), seed=0, hidden=1)
    np.testing.assert_array_equal(terms[:, 0], vectors[[0, 3]])
    assert not terms[:, 1:].any()


def test_rows_depend_on_neither_batch_nor_order_nor_threads():
    graph = joint_graph(label_matrix(4, n=200, labels=80))
    vectors = np.random.default_rng(0).standard_normal((graph.n_nodes, 16), dtype=np.float32)
    nodes = np.random.default_rng(1).integers(0, graph.n_nodes, 500)
    arguments = {"seed": 3, "hidden": 0.4}
    with threads.limit(1):
        terms = hop_terms(vectors, graph, nodes, (4, 3, 2), **arguments)
        back = hop_terms(vectors, graph, nodes[::-1], (4, 3, 2), **arguments)[::-1]
        each = [hop_terms(vectors, graph, nodes[i : i + 1], (4, 3, 2), **arguments) for i in range(40)]
    with threads.limit(2):
        with_two = hop_terms(vectors, graph, nodes, (4, 3, 2), **arguments)
    np.testing.assert_array_equal(terms, back)
    np.testing.assert_array_equal(terms[:40], np.concatenate(each))
    np.testing.assert_array_equal(terms, with_two)
    assert not np.array_equal(terms, hop_terms(vectors, graph, nodes, (4, 3, 2), seed=4, hidden=0.4))


@settings(max_examples=25)
@given(seeds)
def test_new_documents_take_the_first_of_their_neighbours(seed):
    graph, vectors = world(seed)
    rng = np.random.default_rng(seed)
    fanouts = (4, 1, 2)
    lists = np.stack([rng.permutation(graph.n_nodes)[:5] for _ in range(4)])
    lists[1, 3:], lists[2, 0], lists[3] = -1, -1, -1
    own = rng.standard_normal((4, D), dtype=np.float32)
    terms = hop_terms(vectors, graph, None, fanouts, seed=seed, neighbours_of=lists, own_vectors=own)
    # The same by a matrix: the new nodes stand behind the others, and nobody knows them.
    n = graph.n_nodes
    operators = []
    for k, fanout in enumerate(fanouts):
        operator = np.zeros((n + 4, n + 4))
        operator[:n, :n] = sums(graph, fanout, seed, k + 1)
        for row, neighbours in enumerate(lists):
            operator[n + row, neighbours[neighbours >= 0][:fanout]] = 1
        operators.append(operator)
    wanted = products(operators, np.concatenate([vectors, own]))[n:]
    np.testing.assert_allclose(terms, wanted, rtol=1e-4, atol=1e-4)
    assert not terms[3, 1:].any()


def test_a_node_with_a_list_is_not_its_own_neighbour():
    graph, vectors = world(2)
    lists = np.array([[5, 1, 2], [1, 5, 2]])
    nodes = np.array([5, 5])
    terms = hop_terms(vectors, graph, nodes, (2,), seed=0, neighbours_of=lists)
    np.testing.assert_array_equal(terms[:, 0], vectors[nodes])
    np.testing.assert_allclose(terms[:, 1], np.stack([vectors[1] + vectors[2]] * 2))


def test_lists_serve_graphs_without_edges():
    graph = joint_graph(matrix(np.zeros((2, 1))))
    vectors = np.eye(3, dtype=np.float32)
    arguments = {"neighbours_of": np.array([[0, 2]]), "own_vectors": np.ones((1, 3), np.float32)}
    terms = hop_terms(vectors, graph, None, (10**6, 10**6), seed=0, **arguments)
    np.testing.assert_array_equal(terms[0], [[1, 1, 1], [1, 0, 1], [1, 0, 1], [0, 0, 0]])


@given(seeds, st.integers(1, 4))
def test_combined_terms_follow_the_recursion(seed, n_hops):
    graph, vectors = world(seed)
    eps = np.random.default_rng(seed).random(n_hops)
    terms = hop_terms(vectors, graph, np.arange(graph.n_nodes), [2] * n_hops, seed=seed)
    hops = combine(terms, eps)
    by_matrix = coefficients(eps) @ terms
    wanted = vectors.astype(np.float64)
    assert len(hops) == n_hops
    for k in range(n_hops):
        wanted = (1 + eps[k]) * wanted + sums(graph, 2, seed, k + 1) @ wanted
        assert hops[k].dtype == np.float32
        np.testing.assert_allclose(hops[k], wanted, rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(by_matrix[:, k], wanted, rtol=1e-3, atol=1e-3)


def test_coefficients_by_hand():
    np.testing.assert_allclose(coefficients(np.array([1.0, 2.0])), [[2, 1, 0, 0], [6, 3, 2, 1]])
    reached, factors = coefficient_parts(2)
    assert reached.shape == (2, 4)
    assert factors.shape == (2, 4, 2)
    assert reached.dtype == factors.dtype == np.float32


def test_what_does_not_fit_is_an_error():
    graph, vectors = world(0)
    node, lists, own = np.array([0]), np.array([[1, 2]]), vectors[:1]
    wrong = [
        (lambda: hop_terms(vectors[1:], graph, node, (2,), seed=0), "vectors must be"),
        (lambda: hop_terms(vectors, graph, np.array([99]), (2,), seed=0), "no node 99"),
        (lambda: hop_terms(vectors, graph, node, (2, 0), seed=0), "at least 1 neighbour"),
        (lambda: hop_terms(vectors, graph, node, (2,), seed=0, hidden=-1), "share"),
        (lambda: hop_terms(vectors, graph, None, (2,), seed=0), "neighbours_of for new"),
        (lambda: hop_terms(vectors, graph, None, (2,), seed=0, neighbours_of=lists), "own_vectors"),
        (lambda: hop_terms(vectors, graph, -node - 1, (2,), seed=0, own_vectors=own), "neighbours_of"),
        (lambda: hop_terms(vectors, graph, node, (2,), seed=0, neighbours_of=lists[0]), "a row for each"),
        (lambda: hop_terms(vectors, graph, node, (2,), seed=0, neighbours_of=lists + 90), "no node 92"),
        (lambda: hop_terms(vectors, graph, node, (2,), seed=0, own_vectors=own[:, 1:]), "own_vectors must"),
    ]
    for call, message in wrong:
        with pytest.raises(UsageError, match=message):
            call()


def test_more_paths_than_memory_is_an_error():
    graph = joint_graph(matrix(np.ones((30, 30))))
    vectors = np.zeros((60, 2), np.float32)
    with pytest.raises(UsageError, match="choose smaller ones"):
        hop_terms(vectors, graph, np.array([0]), [30] * 5, seed=0)


def test_no_nodes():
    graph, vectors = world(0)
    for empty in (np.empty(0, np.int64), np.empty(0, np.int32)):
        assert hop_terms(vectors, graph, empty, (4, 3), seed=0).shape == (0, 4, D)
