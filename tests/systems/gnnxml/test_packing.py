"""Graphs side by side are the graphs of each document."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from longtail.systems.gnnxml.packing import GraphStore, Packed, unit
from tests.systems.gnnxml.worlds import random_graphs

SIZES = [3, 1, 5, 2]


@pytest.mark.parametrize("weighted", [False, True])
def test_some_documents_are_taken_with_their_edges_and_features(weighted: bool) -> None:
    graphs, features = random_graphs(SIZES, 4)
    store = GraphStore(graphs, features, weighted=weighted)
    rows = np.array([2, 0, 2, 1])
    packed = store.take(rows)
    edges, member = packed.edges.toarray(), packed.membership.toarray()
    start = 0
    for place, row in enumerate(rows):
        own = slice(graphs.documents[row], graphs.documents[row + 1])
        there = slice(start, start + SIZES[row])
        block = graphs.edges.toarray()[own, own]
        assert (edges[there, there] == (block if weighted else block > 0)).all()
        assert (packed.features[there] == features[own]).all()
        assert member[place].sum() == member[place, there].sum() == SIZES[row]
        edges[there, there] = 0
        start = there.stop
    assert not edges.any()
    assert len(store) == 4


def test_all_of_them_are_what_predictions_pack() -> None:
    graphs, features = random_graphs(SIZES, 4)
    store = GraphStore(graphs, features, weighted=False)
    one = store.take(np.arange(4))
    for other in (Packed.of(graphs, features, weighted=False), store.all()):
        assert (one.edges != other.edges).nnz == 0
        assert (one.membership != other.membership).nnz == 0
        assert (one.features == other.features).all()


def test_embeddings_are_sums_of_unit_length_and_the_same_alone() -> None:
    graphs, features = random_graphs(SIZES, 64)
    features[graphs.documents[1] : graphs.documents[2]] = 0
    store = GraphStore(graphs, features, weighted=False)
    found = store.all().embeddings()
    assert np.allclose(np.linalg.norm(found, axis=1), [1, 0, 1, 1], atol=1e-6)
    for i in range(len(SIZES)):
        first, last = graphs.documents[i], graphs.documents[i + 1]
        assert (store.take(np.array([i])).embeddings()[0] == found[i]).all()
        if i != 1:
            total = features[first:last].sum(axis=0)
            assert np.allclose(found[i], total / np.linalg.norm(total), atol=1e-5)
    assert (unit(np.zeros((2, 3), np.float32)) == 0).all()


def test_embeddings_of_words_are_those_of_their_vectors() -> None:
    graphs, _ = random_graphs(SIZES, 1)
    rng = np.random.default_rng(0)
    words = csr_array(random_array((sum(SIZES), 9), density=0.4, rng=rng, dtype=np.float32))
    vectors = rng.standard_normal((9, 4)).astype(np.float32)
    made = GraphStore(graphs, words, weighted=False).all().embeddings(vectors)
    assert np.allclose(
        made, GraphStore(graphs, words @ vectors, weighted=False).all().embeddings(), atol=1e-6
    )
