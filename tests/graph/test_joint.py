import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail import threads
from longtail.errors import UsageError
from longtail.graph.joint import JointGraph, extended, joint_graph, label_nodes
from tests.graph.worlds import label_matrix, matrix, seeds


def neighbours(graph: JointGraph) -> list[list[int]]:
    return [graph.indices[a:b].tolist() for a, b in zip(graph.indptr, graph.indptr[1:], strict=False)]


def own_pairs(graph: JointGraph) -> set[tuple[int, int]]:
    rows = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    return set(zip(rows[graph.own].tolist(), graph.indices[graph.own].tolist(), strict=True))


def pairs(graph: JointGraph) -> set[tuple[int, int]]:
    return {(a, b) for a, others in enumerate(neighbours(graph)) for b in others}


def check(graph: JointGraph) -> None:
    assert graph.indptr.dtype == np.int64
    assert graph.indices.dtype == np.int32
    assert graph.own.dtype == np.bool_
    assert graph.node_of_document.dtype == np.int32
    assert graph.node_of_label.dtype == np.int32
    assert graph.indptr[0] == 0
    assert graph.indptr[-1] == len(graph.indices) == len(graph.own)
    for node, others in enumerate(neighbours(graph)):
        assert others == sorted(set(others))
        assert node not in others
    assert pairs(graph) == {(b, a) for a, b in pairs(graph)}


def test_documents_come_first_and_labels_behind_them():
    graph = joint_graph(matrix([[1, 0, 1], [0, 0, 1]]))
    assert (graph.n_documents, graph.n_labels, graph.n_nodes) == (2, 3, 5)
    assert graph.node_of_document.tolist() == [0, 1]
    assert graph.node_of_label.tolist() == [2, 3, 4]
    assert neighbours(graph) == [[2, 4], [4], [0], [], [0, 1]]
    assert own_pairs(graph) == {(0, 2), (0, 4), (1, 4)}


def test_a_label_that_is_a_document_shares_its_node():
    graph = joint_graph(matrix([[1, 0, 1], [0, 0, 1]]), same=np.array([-1, 0]))
    assert graph.node_of_label.tolist() == [1, 2, 3]
    assert graph.n_nodes == 4
    assert neighbours(graph) == [[1, 3], [0, 3], [], [0, 1]]
    # Document 1 is a label of document 0, which is no label of document 1.
    assert own_pairs(graph) == {(0, 1), (0, 3), (1, 3)}


def test_only_the_first_document_becomes_the_node_of_a_label():
    graph = joint_graph(matrix([[0, 1], [0, 1], [1, 0]]), same=np.array([0, 0, -1]))
    assert graph.node_of_label.tolist() == [0, 3]
    assert neighbours(graph) == [[2, 3], [3], [0], [0, 1]]


def test_a_document_that_has_itself_as_a_label_is_not_its_own_neighbour():
    graph = joint_graph(matrix([[1, 1], [0, 0]]), same=np.array([0, 1]))
    assert neighbours(graph) == [[1], [0]]


def test_further_edges_are_merged_and_cannot_be_hidden():
    ends = (np.array([0, 1, 0, 1]), np.array([1, 0, 2, 1]))
    graph = joint_graph(matrix([[1, 1], [0, 0]]), edges=ends)
    check(graph)
    assert neighbours(graph) == [[1, 2, 3], [0], [0], [0]]
    assert own_pairs(graph) == {(0, 3)}


def test_stored_zeros_are_labels_and_pairs_count_once():
    Y = matrix([[1, 1], [1, 0]])
    Y.data[:] = 0
    assert neighbours(joint_graph(Y)) == [[2, 3], [2], [0, 1], [0]]


def test_head_labels_keep_their_nearest_documents():
    Y = matrix([[1, 1], [1, 0], [1, 1], [1, 0]])
    # Label 0 points along the first axis; label 1 has too few documents to be a head.
    vectors = np.array([[0, 9], [5, 1], [1, 5], [0.2, 0], [3, 0], [0, 0]], np.float32)
    graph = joint_graph(Y, head_above=2, head_keep=2, vectors=vectors)
    check(graph)
    assert neighbours(graph) == [[5], [4], [5], [4], [1, 3], [0, 2]]
    assert own_pairs(graph) == {(0, 5), (1, 4), (2, 5), (3, 4)}
    assert neighbours(joint_graph(Y, head_above=4, head_keep=2, vectors=vectors)) == neighbours(
        joint_graph(Y)
    )
    assert neighbours(joint_graph(Y, head_above=2, head_keep=0, vectors=vectors))[4] == []


def test_equally_near_documents_are_kept_by_number_and_vectors_without_direction_are_at_right_angles():
    Y = matrix([[1]] * 5)
    vectors = np.array([[-1, 0], [0, 0], [2, 0], [0, 1], [1, 0], [1, 0]], np.float32)
    assert neighbours(joint_graph(Y, head_above=0, head_keep=3, vectors=vectors))[5] == [1, 2, 4]


def test_the_document_that_is_the_head_label_takes_no_place_of_its_neighbours():
    Y = matrix([[1, 0], [1, 0], [1, 0]])
    vectors = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], np.float32)
    graph = joint_graph(Y, same=np.array([0, -1, -1]), head_above=1, head_keep=1, vectors=vectors)
    assert neighbours(graph) == [[2], [], [0], []]


def test_the_nearest_do_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(0)
    Y = label_matrix(3, n=3000, labels=9, density=0.6)
    vectors = rng.standard_normal((3009, 5), dtype=np.float32)
    graphs = []
    for number in (1, 2):
        with threads.limit(number):
            graphs.append(joint_graph(Y, head_above=10, head_keep=7, vectors=vectors))
    one, two = graphs
    np.testing.assert_array_equal(one.indices, two.indices)
    np.testing.assert_array_equal(one.indptr, two.indptr)
    assert np.diff(one.indptr)[3000:].max() == 7


@given(seeds)
def test_heads_keep_what_a_slow_search_finds_nearest(seed):
    rng = np.random.default_rng(seed)
    Y = label_matrix(seed)
    n, n_labels = Y.shape
    vectors = rng.standard_normal((n + n_labels, 4), dtype=np.float32)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    graph = joint_graph(Y, head_above=3, head_keep=2, vectors=vectors)
    check(graph)
    for label, column in enumerate(Y.toarray().T):
        documents = np.flatnonzero(column)
        if len(documents) > 3:
            documents = documents[np.argsort(-unit[documents] @ unit[n + label])[:2]]
        assert neighbours(graph)[n + label] == sorted(documents.tolist())


@given(seeds, st.data())
def test_any_graph_is_symmetric_without_loops_or_doubles(seed, data):
    Y = label_matrix(seed, n=6, labels=5)
    same = np.array(data.draw(st.lists(st.integers(-1, 4), min_size=6, max_size=6)))
    n_nodes = int(max(5, label_nodes(same, 6, 5).max())) + 1
    ends = np.array(data.draw(st.lists(st.tuples(*[st.integers(0, n_nodes - 1)] * 2), min_size=1))).T
    graph = joint_graph(Y, same=same, edges=(ends[0], ends[1]))
    check(graph)
    wanted = {(d, int(graph.node_of_label[label])) for d, label in zip(*Y.nonzero(), strict=True)}
    wanted |= {(int(a), int(b)) for a, b in ends.T}
    wanted = {(a, b) for a, b in wanted if a != b}
    assert pairs(graph) == wanted | {(b, a) for a, b in wanted}
    assert sorted({*range(6), *graph.node_of_label.tolist()}) == list(range(graph.n_nodes))


def test_no_documents_and_no_labels():
    graph = joint_graph(matrix(np.zeros((0, 3))))
    assert (graph.n_documents, graph.n_nodes, len(graph.indices)) == (0, 3, 0)
    assert joint_graph(matrix(np.zeros((0, 0)))).n_nodes == 0


def test_new_documents_join_behind_the_old_nodes():
    old = joint_graph(matrix([[1, 0, 1], [0, 0, 1]]))
    graph = extended(old, np.array([[4, 0, -1], [5, 4, 4], [-1, -1, 7]]), own=True)
    check(graph)
    assert graph.node_of_document.tolist() == [0, 1, 5, 6, 7]
    assert graph.node_of_label.tolist() == old.node_of_label.tolist()
    assert neighbours(graph) == [[2, 4, 5], [4], [0], [], [0, 1, 5, 6], [0, 4, 6], [4, 5], []]
    assert own_pairs(graph) == own_pairs(old) | {(5, 0), (5, 4), (6, 4), (6, 5)}
    assert own_pairs(extended(old, np.array([[4, 0]]))) == own_pairs(old)


@given(seeds)
def test_joining_later_gives_the_edges_of_joining_at_once(seed):
    rng = np.random.default_rng(seed)
    Y = label_matrix(seed, n=6, labels=5)
    lists = rng.integers(-1, 15, (4, 3))
    new, place = np.nonzero(lists >= 0)
    graph = joint_graph(Y)
    bigger = extended(graph, lists)
    check(bigger)
    added = {
        (int(n) + 11, int(lists[n, p])) for n, p in zip(new, place, strict=True) if lists[n, p] != n + 11
    }
    assert pairs(bigger) == pairs(graph) | added | {(b, a) for a, b in added}
    assert own_pairs(bigger) == own_pairs(graph)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"same": np.array([0])}, "one label for each of 2 documents"),
        ({"same": np.array([0, 3])}, "the label 3"),
        ({"same": np.array([-2, 0])}, "the label -2"),
        ({"edges": (np.array([0]), np.array([5]))}, "no node 5"),
        ({"edges": (np.array([0]), np.array([-1]))}, "no node -1"),
        ({"edges": (np.array([0]), np.array([1, 2]))}, "two ends"),
        ({"head_above": 1}, "needs vectors"),
        ({"head_above": 1, "vectors": np.ones((4, 2))}, r"5 nodes, but got \(4, 2\)"),
        ({"head_above": 1, "head_keep": -1, "vectors": np.ones((5, 2))}, "head_keep"),
    ],
)
def test_what_does_not_fit_is_an_error(arguments, message):
    with pytest.raises(UsageError, match=message):
        joint_graph(matrix([[1, 0, 1], [0, 0, 1]]), **arguments)


def test_new_documents_need_nodes_that_are_there():
    graph = joint_graph(matrix([[1, 0]]))
    with pytest.raises(UsageError, match="no node 4"):
        extended(graph, np.array([[4]]))
    with pytest.raises(UsageError, match="documents, neighbours"):
        extended(graph, np.array([1]))
