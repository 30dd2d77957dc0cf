"""KeyGraphs checked by hand, and properties of graphs of any keywords."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.errors import UsageError
from longtail.graph.keygraph import KeyGraphs, build_key_graphs, join_key_graphs, joined_ranges


def by_hand() -> KeyGraphs:
    """Three documents: two keywords in three sentences, nothing at all, one keyword in two sentences."""
    return build_key_graphs(
        np.array([0, 2, 2, 3]),
        np.array([7, 5, 9], np.int32),
        np.array([0, 3, 3, 5]),
        # Keyword 7 is in sentences 0 and 1, keyword 5 twice in 1, keyword 9 in 4; none is in 2 and 3.
        np.array([0, 0, 1, 1, 2]),
        np.array([0, 1, 1, 1, 4]),
    )


@st.composite
def graphs(draw: st.DrawFn) -> KeyGraphs:
    n = draw(st.integers(0, 5))
    sentences = [draw(st.integers(0, 4)) for _ in range(n)]
    keywords = [draw(st.integers(0, 3)) if sentences[i] else 0 for i in range(n)]
    starts, first = np.cumsum([0, *keywords]), np.cumsum([0, *sentences])
    pairs = [
        (int(starts[i]) + k, int(first[i]) + s)
        for i in range(n)
        for k in range(keywords[i])
        for s in draw(st.sets(st.integers(0, sentences[i] - 1), min_size=1))
    ]
    keyword_of, sentence_of = np.array(pairs, np.int64).reshape(-1, 2).T
    numbers = np.arange(int(starts[-1]), dtype=np.int32)
    return build_key_graphs(starts, numbers, first, keyword_of, sentence_of)


def same(a: KeyGraphs, b: KeyGraphs) -> None:
    assert np.array_equal(a.documents, b.documents)
    assert np.array_equal(a.keywords, b.keywords)
    for one, other in ((a.edges, b.edges), (a.sentences, b.sentences)):
        assert one.shape == other.shape
        assert np.array_equal(one.toarray(), other.toarray())


def test_vertices_edges_and_sentences() -> None:
    made = by_hand()
    assert len(made) == 3
    assert made.documents.tolist() == [0, 3, 4, 6]
    assert made.keywords.tolist() == [7, 5, -1, -1, 9, -1]
    assert made.document_of_each.tolist() == [0, 0, 0, 1, 2, 2]
    edges = np.zeros((6, 6))
    edges[0, 1] = edges[1, 0] = 1
    assert np.array_equal(made.edges.toarray(), edges)
    sentences = np.zeros((6, 5))
    sentences[[0, 0, 1, 2, 4, 5], [0, 1, 1, 2, 4, 3]] = 1
    assert np.array_equal(made.sentences.toarray(), sentences)
    assert made.documents.dtype == np.int64
    assert made.keywords.dtype == np.int32
    assert made.edges.dtype == made.sentences.dtype == np.float32


def test_an_edge_weighs_the_sentences_that_two_keywords_share() -> None:
    keyword_of, sentence_of = np.array([0, 0, 0, 1, 1, 1, 2]), np.array([0, 1, 2, 1, 2, 3, 0])
    made = build_key_graphs(
        np.array([0, 3]), np.arange(3, dtype=np.int32), np.array([0, 4]), keyword_of, sentence_of
    )
    assert made.edges.toarray().tolist() == [[0, 2, 1], [2, 0, 0], [1, 0, 0]]
    assert -1 not in made.keywords


def test_some_documents_in_another_order_and_twice() -> None:
    taken = by_hand().take(np.array([2, 0, 2]))
    assert taken.documents.tolist() == [0, 2, 5, 7]
    assert taken.keywords.tolist() == [9, -1, 7, 5, -1, 9, -1]
    assert np.argwhere(taken.edges.toarray()).tolist() == [[2, 3], [3, 2]]
    assert taken.sentences.shape == (7, 7)
    assert np.argwhere(taken.sentences.toarray()).tolist() == [
        [0, 1],
        [1, 0],
        [2, 2],
        [2, 3],
        [3, 3],
        [4, 4],
        [5, 6],
        [6, 5],
    ]


def test_features_of_taken_graphs_are_found_by_their_vertices() -> None:
    made, rows = by_hand(), np.array([2, 1, 0])
    features = np.arange(len(made.keywords))
    assert features[made.vertices(rows)].tolist() == [4, 5, 3, 0, 1, 2]
    assert made.vertices(np.zeros(0, np.int64)).tolist() == []


@given(graphs(), st.data())
def test_taking_is_joining_what_is_taken_one_by_one(made: KeyGraphs, data: st.DataObject) -> None:
    some = st.lists(st.integers(0, len(made) - 1), max_size=6) if len(made) else st.just([])
    rows = data.draw(some)
    same(made.take(np.array(rows, np.int64)), join_key_graphs([made.take(np.array([row])) for row in rows]))
    same(made.take(np.arange(len(made))), made)
    without = made.without_sentences().take(np.array(rows, np.int64))
    assert without.sentences.shape == (without.documents[-1], 0)


@given(graphs())
def test_any_graph_is_whole(made: KeyGraphs) -> None:
    assert (np.diff(made.documents) >= 1).all()
    dense = made.edges.toarray()
    assert np.array_equal(dense, dense.T)
    assert not dense.diagonal().any()
    belongs = made.sentences.toarray()
    shared = belongs @ belongs.T
    np.fill_diagonal(shared, 0)
    assert np.array_equal(dense, shared)
    assert (belongs.sum(axis=0) >= 1).all()
    # The empty vertex is the last of its document, and shares no sentence.
    empty = np.flatnonzero(made.keywords == -1)
    assert np.isin(empty, made.documents[1:] - 1).all()
    assert not dense[empty].any()


def test_ranges_one_after_the_other() -> None:
    assert joined_ranges(np.array([3, 0, 5]), np.array([5, 0, 6])).tolist() == [3, 4, 5]


def test_keywords_that_do_not_fit_the_documents() -> None:
    with pytest.raises(UsageError, match="do not fit"):
        build_key_graphs(
            np.array([0, 1]), np.zeros(2, np.int32), np.array([0, 1]), np.zeros(0, int), np.zeros(0, int)
        )
