"""The nodes of GalaXC: shared nodes, near nodes, votes, auxiliary edges, documents that are nodes already."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.sparse import csr_array

from longtail.run import Run
from longtail.systems.galaxc.config import GraphConfig
from longtail.systems.galaxc.node_index import NodeIndex, first_of, no_pairs, unit
from longtail.types import Dataset, Documents, Edges, LabelSet

D = 8
NOWHERE = np.full(1, -1)


def directions(n: int, seed: int) -> np.ndarray:
    return unit(np.random.default_rng(seed).standard_normal((n, D)).astype(np.float32))


def half(rows: np.ndarray) -> np.ndarray:
    """As the index keeps them."""
    return rows.astype(np.float16).astype(np.float32)


def data_of(
    documents: list[str],
    labels: list[str],
    pairs: list[list[int]],
    titles: list[str] | None = None,
    texts: list[str] | None = None,
    edges: Edges | None = None,
) -> Dataset:
    """Documents and labels by their ids; each document's labels by number."""
    marks = np.zeros((len(documents), len(labels)), np.float32)
    for row, numbers in enumerate(pairs):
        marks[row, numbers] = 1
    titles = titles or [f"document {id_}" for id_ in documents]
    columns = Documents(documents, titles, [""] * len(documents))
    return Dataset(
        columns, LabelSet(labels, texts or [f"label {id_}" for id_ in labels]), csr_array(marks), edges=edges
    )


def nodes_of(
    data: Dataset, self_label: list[int] | None = None, config: GraphConfig | None = None
) -> NodeIndex:
    mine = np.full(len(data), -1) if self_label is None else np.array(self_label)
    documents, labels = directions(len(data), 1), directions(len(data.labels), 2)
    return NodeIndex.of(data, data.Y, mine, documents, labels, config or GraphConfig(), Run())


def neighbours(nodes: NodeIndex, node: int) -> list[int]:
    graph = nodes.graph
    return list(graph.indices[graph.indptr[node] : graph.indptr[node + 1]])


def edges_of(*rows: tuple[str, str, float]) -> Edges:
    return Edges(
        [a for a, _, _ in rows], [b for _, b, _ in rows], np.array([w for *_, w in rows], np.float32)
    )


# Documents a, b, c; labels b (the document), x, y.
RELATED = data_of(["a", "b", "c"], ["b", "x", "y"], [[0, 1], [1], [2]])


# --- shared nodes ---------------------------------------------------------------------------------------------


def test_a_label_that_is_a_document_shares_its_node() -> None:
    nodes = nodes_of(RELATED, self_label=[-1, 0, -1])
    assert nodes.graph.node_of_label.tolist() == [1, 3, 4]
    assert nodes.vectors.shape == (5, D)
    documents, labels = directions(3, 1), directions(3, 2)
    expected = unit(np.concatenate([documents, labels[1:]]))
    # Where both texts are.
    expected[1] = unit(documents[[1]] + labels[[0]])[0]
    np.testing.assert_allclose(nodes.vectors, half(expected), atol=1e-6)
    assert [neighbours(nodes, node) for node in range(5)] == [[1, 3], [0, 3], [4], [0, 1], [2]]
    # The labels of documents; nodes that are labels alone have none.
    assert nodes.labels_of.toarray().tolist() == [*RELATED.Y.toarray().tolist(), [0, 0, 0], [0, 0, 0]]
    assert nodes.ids == ["a", "b", "c"]
    assert nodes.has("b")
    assert not nodes.has("x")


def test_without_shared_ids_every_label_is_a_node() -> None:
    nodes = nodes_of(RELATED)
    assert nodes.graph.node_of_label.tolist() == [3, 4, 5]
    assert neighbours(nodes, 0) == [3, 4]


def test_the_same_text_is_a_node_only_on_request() -> None:
    data = data_of(["1", "2"], ["k", "l"], [[1], [0]], ["Red  Apple", "pear"], ["red apple", "plum"])
    assert nodes_of(data).graph.node_of_label.tolist() == [2, 3]
    merged = nodes_of(data, config=GraphConfig(same_text=True))
    assert merged.graph.node_of_label.tolist() == [0, 2]
    # A plain string is a short text too.
    plain = replace(data, documents=Documents(["1", "2"], ["", ""], ["red apple", "pear"]))
    assert nodes_of(plain, config=GraphConfig(same_text=True)).graph.node_of_label.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("titles", "texts"),
    [
        (["", " "], ["", "x"]),
        (["", "a"], ["", ""]),
        # Two labels, or two documents, of one text: which is meant?
        (["apple", "b"], ["apple", "Apple"]),
        (["apple", "apple"], ["apple", "x"]),
    ],
)
def test_empty_and_duplicate_texts_name_nobody(titles: list[str], texts: list[str]) -> None:
    data = data_of(["1", "2"], ["k", "l"], [[], []], titles, texts)
    nodes = nodes_of(data, config=GraphConfig(same_text=True))
    assert nodes.graph.node_of_label.tolist() == [2, 3]


def test_a_document_is_not_its_own_answer() -> None:
    data = data_of(["1", "2"], ["k", "l"], [[0], [0]], ["apple", "plum"], ["apple", "plum"])
    nodes = nodes_of(data, config=GraphConfig(same_text=True))
    assert nodes.graph.node_of_label.tolist() == [2, 1]
    assert neighbours(nodes, 0) == [2]


def test_ids_come_before_texts() -> None:
    data = data_of(["k", "2"], ["k", "l"], [[], []], ["plum", "apple"], ["apple", "plum"])
    config = GraphConfig(same_text=True)
    # By their texts it would be the other way round.
    assert nodes_of(data, self_label=[0, -1], config=config).graph.node_of_label.tolist() == [0, 2]
    assert nodes_of(data, config=config).graph.node_of_label.tolist() == [1, 0]


def test_edges_of_the_data_are_in_the_graph_in_training_alone() -> None:
    edges = edges_of(("a", "c", 1.0), ("y", "b", 0.5), ("a", "a", 9.0), ("a", "elsewhere", 1.0))
    data = replace(RELATED, edges=edges)
    joined = nodes_of(data, self_label=[-1, 0, -1])
    assert neighbours(joined, 0) == [1, 2, 3]
    assert neighbours(joined, 4) == [1, 2]
    for config in (GraphConfig(auxiliary="none"), GraphConfig(auxiliary="predict")):
        assert neighbours(nodes_of(data, self_label=[-1, 0, -1], config=config), 0) == [1, 3]


def test_frequent_labels_keep_their_nearest_documents() -> None:
    data = data_of([str(i) for i in range(6)], ["x", "y"], [[0]] * 6)
    nodes = nodes_of(data, config=GraphConfig(head_above=5, head_keep=2))
    cosines = directions(6, 1) @ directions(2, 2)[0]
    assert neighbours(nodes, 6) == sorted(np.argsort(-cosines)[:2])
    assert len(neighbours(nodes_of(data, config=GraphConfig(head_above=6)), 6)) == 6


# --- near nodes -----------------------------------------------------------------------------------------------

MANY = data_of(
    [f"d{i}" for i in range(30)], [f"l{i}" for i in range(10)], [[i % 10, i % 7] for i in range(30)]
)


@given(st.integers(1, 45), st.integers(0, 5))
def test_the_nearest_nodes_without_oneself(k: int, seed: int) -> None:
    nodes = nodes_of(MANY)
    rng = np.random.default_rng(seed)
    places = np.append(rng.integers(0, 30, 6), [-1, -1])
    queries = np.concatenate([nodes.vectors[places[:6]], directions(2, 9 + seed)])
    found, cosines = nodes.near(queries, k, places)
    assert found.shape == cosines.shape == (8, k)
    dense = unit(queries) @ nodes.vectors.T
    dense[np.arange(6), places[:6]] = -np.inf
    for row, node in enumerate(places):
        there = 40 - (node >= 0)
        order = np.argsort(-dense[row], kind="stable")[: min(k, there)]
        assert found[row, : len(order)].tolist() == order.tolist()
        np.testing.assert_allclose(cosines[row, : len(order)], dense[row, order], atol=1e-5)
        assert (found[row, len(order) :] == -1).all()
        assert (cosines[row, len(order) :] == 0).all()


def test_twins_are_near_each_other_and_never_themselves() -> None:
    twins = np.tile(directions(1, 0), (5, 1))
    data = data_of(list("abcde"), ["x"], [[0]] * 5)
    nodes = NodeIndex.of(data, data.Y, np.full(5, -1), twins, directions(1, 2), GraphConfig(), Run())
    found, _ = nodes.near(twins, 2, np.arange(5))
    assert (found >= 0).all()
    assert not (found == np.arange(5)[:, None]).any()


def test_a_row_of_zeros_is_near_no_node() -> None:
    found, cosines = nodes_of(MANY).near(np.zeros((1, D), np.float32), 3, NOWHERE)
    assert found.tolist() == [[-1, -1, -1]]
    assert cosines.tolist() == [[0, 0, 0]]


def test_votes_are_fourth_powers_of_cosines() -> None:
    nodes = nodes_of(MANY)
    rng = np.random.default_rng(4)
    near = rng.integers(-1, 40, (12, 6)).astype(np.int32)
    cosines = rng.uniform(-1, 1, (12, 6)).astype(np.float32)
    votes = nodes.votes(near, cosines)
    expected = np.zeros((12, 10))
    for row in range(12):
        for node, cosine in zip(near[row], cosines[row], strict=True):
            # Labels do not vote, nor does who points the other way.
            if 0 <= node < 30:
                expected[row] += max(cosine, 0) ** 4 * MANY.Y.toarray()[node]
    np.testing.assert_allclose(votes.to_csr(10).toarray(), expected, atol=1e-6)
    assert not len(nodes.votes(near[:, :0], cosines[:, :0]).ids)


# --- known documents ------------------------------------------------------------------------------------------


def test_a_known_document_needs_its_id_and_its_embedding() -> None:
    nodes = nodes_of(MANY)
    alike = unit(nodes.vectors[[3]] + 0.1 * directions(1, 8))[0]
    vectors = np.stack(
        [nodes.vectors[3], alike, nodes.vectors[3], directions(1, 5)[0], np.zeros(D, np.float32)]
    )
    assert nodes.nodes_of(["d3", "d3", "new", "d3", "d3"], vectors).tolist() == [3, 3, -1, -1, -1]
    assert nodes.nodes_of(["d4"], nodes.vectors[[3]]).tolist() == [-1]
    # The node of a label alone is no document.
    assert nodes.nodes_of(["l0"], nodes.vectors[[30]]).tolist() == [-1]


def test_a_known_document_is_known_where_its_node_is_a_label_of_another_text() -> None:
    first = np.eye(1, D, dtype=np.float32)
    second = np.eye(1, D, k=1, dtype=np.float32)
    data = data_of(["k"], ["k"], [[]])
    nodes = NodeIndex.of(data, data.Y, np.array([0]), first, second, GraphConfig(), Run())
    assert nodes.nodes_of(["k"], first).tolist() == [0]
    assert nodes.nodes_of(["k"], np.eye(1, D, k=2, dtype=np.float32)).tolist() == [-1]


# --- auxiliary edges ------------------------------------------------------------------------------------------


def test_edges_go_both_ways_the_heaviest_first() -> None:
    nodes = nodes_of(RELATED, self_label=[-1, 0, -1])
    edges = edges_of(("new", "a", 0.2), ("y", "new", 0.9), ("new", "b", 0.5), ("other", "c", 1.0))
    labels = RELATED.labels.ids
    assert nodes.auxiliary_edges(edges, labels).table(["new"], 4).tolist() == [[4, 1, 0, -1]]
    assert nodes.auxiliary_edges(edges, labels).table(["new"], 2).tolist() == [[4, 1]]
    assert nodes.auxiliary_edges(edges, labels).table(["x", "other", "new"], 1).tolist() == [[-1], [2], [4]]
    assert nodes.auxiliary_edges(edges_of(("new", "who", 1.0)), labels).table(["new"], 2).tolist() == [
        [-1, -1]
    ]
    # Equally strong ones by their number.
    ties = edges_of(("new", "c", 1.0), ("new", "a", 1.0))
    assert nodes.auxiliary_edges(ties, labels).table(["new"], 2).tolist() == [[0, 2]]


def test_an_edge_that_is_there_twice_is_one() -> None:
    nodes = nodes_of(RELATED, self_label=[-1, 0, -1])
    twice = edges_of(("new", "a", 0.1), ("a", "new", 0.8), ("new", "b", 0.5), ("new", "c", 0.3))
    assert nodes.auxiliary_edges(twice, RELATED.labels.ids).table(["new"], 3).tolist() == [[0, 1, 2]]


def test_no_node_has_an_edge_to_itself() -> None:
    nodes = nodes_of(RELATED, self_label=[-1, 0, -1])
    edges = edges_of(("a", "a", 1.0), ("b", "b", 1.0), ("a", "c", 0.5))
    assert nodes.auxiliary_edges(edges, RELATED.labels.ids).table(["a", "b", "c"], 2).tolist() == [
        [2, -1],
        [-1, -1],
        [0, -1],
    ]


# --- further documents ----------------------------------------------------------------------------------------


def test_further_documents_are_behind_all_nodes() -> None:
    nodes = nodes_of(RELATED, self_label=[-1, 0, -1])
    vectors = directions(2, 6)
    Y = csr_array(np.array([[0, 0, 1], [0, 0, 0]], np.float32))
    more = nodes.with_documents(["m", "n"], vectors, np.array([[4, 0], [5, -1]]), Y)
    assert more.ids == ["a", "b", "c", "m", "n"]
    assert more.graph.node_of_document.tolist() == [0, 1, 2, 5, 6]
    assert more.graph.node_of_label.tolist() == [1, 3, 4]
    assert [neighbours(more, node) for node in (0, 4, 5, 6)] == [[1, 3, 5], [2, 5], [0, 4, 6], [5]]
    np.testing.assert_allclose(more.vectors, np.concatenate([nodes.vectors, half(vectors)]), atol=1e-6)
    assert more.labels_of.toarray()[5:].tolist() == [[0, 0, 1], [0, 0, 0]]
    assert more.near(vectors, 1, np.full(2, -1))[0].tolist() == [[5], [6]]
    assert more.nodes_of(["m", "n", "a"], np.concatenate([vectors, nodes.vectors[:1]])).tolist() == [5, 6, 0]
    # Edges reach them at the nodes they have.
    assert more.auxiliary_edges(edges_of(("new", "m", 1.0)), RELATED.labels.ids).table(
        ["new"], 2
    ).tolist() == [[5, -1]]
    # The index that it was made of stays as it is.
    assert (nodes.graph.n_nodes, len(nodes.ids), nodes.vectors.shape) == (5, 3, (5, D))


# --- small parts ----------------------------------------------------------------------------------------------


@given(
    arrays.arrays(np.int32, (4, 3), elements=st.integers(-1, 5)),
    arrays.arrays(np.int32, (4, 2), elements=st.integers(-1, 5)),
    st.integers(1, 7),
)
def test_the_first_different_numbers_of_several_lists(a: np.ndarray, b: np.ndarray, width: int) -> None:
    found = first_of(width, a, b)
    assert found.dtype == np.int32
    for row in range(4):
        wanted = list(dict.fromkeys(x for x in [*a[row].tolist(), *b[row].tolist()] if x >= 0))[:width]
        assert found[row].tolist() == wanted + [-1] * (width - len(wanted))


def test_lists_without_columns_have_nothing() -> None:
    assert first_of(2, np.empty((3, 0), np.int32)).tolist() == [[-1, -1]] * 3
    assert no_pairs(3, 5).shape == (3, 5)
    assert no_pairs(3, 5).nnz == 0


@given(arrays.arrays(np.float32, (3, 4), elements=st.floats(-1e6, 1e6, width=32)))
def test_rows_of_length_one(rows: np.ndarray) -> None:
    found = unit(rows)
    assert found.dtype == np.float32
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    np.testing.assert_allclose(found * lengths[:, None], rows, rtol=1e-5, atol=1e-6 * lengths.max(initial=0))
    there = lengths > 0
    np.testing.assert_allclose(np.linalg.norm(found[there].astype(np.float64), axis=1), 1, rtol=1e-5)
    assert not found[lengths == 0].any()
