"""Folded graph encoders against torch and dense matrices, and the same bits in every batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail import threads
from longtail.blocks.layered_encoder import LayeredEncoder
from longtail.errors import ModelIntegrityError, UsageError
from longtail.graph.joint import JointGraph, joint_graph
from longtail.graph.layers import layers_of
from longtail.shortlist.layered import LayeredWeights
from longtail.training.runtime import torch_threads

D = 19
Kind = Literal["gin", "graphsage"]
KINDS: tuple[Kind, ...] = ("gin", "graphsage")
FANOUTS = (4, 3, 2)


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    with threads.limit(1), torch_threads():
        yield


def world(seed: int = 0, n: int = 60, n_labels: int = 25) -> tuple[JointGraph, np.ndarray]:
    """A graph some of whose nodes have few neighbours or none, and vectors."""
    rng = np.random.default_rng(seed)
    labels = rng.random((n, n_labels)) < 0.2 * rng.random(n_labels)
    labels[0] = False
    graph = joint_graph(csr_array(labels.astype(np.float32)))
    return graph, rng.standard_normal((graph.n_nodes, D)).astype(np.float32)


def encoder(kind: Kind, hops: int = 3) -> LayeredEncoder:
    torch.manual_seed(0)
    made = LayeredEncoder(kind, D, hops)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return made.eval()


def encode(
    weights: LayeredWeights,
    graph: JointGraph,
    vectors: np.ndarray,
    nodes: np.ndarray,
    lists: np.ndarray | None = None,
    own: np.ndarray | None = None,
) -> np.ndarray:
    layers = layers_of(graph, nodes, FANOUTS, seed=7, neighbours_of=lists)
    return weights(layers, np.concatenate([vectors[nodes] if own is None else own, vectors[layers.nodes[0]]]))


@settings(max_examples=10)
@given(st.integers(0, 1000), st.booleans(), st.sampled_from(KINDS))
def test_it_is_what_torch_gives_in_prediction(seed: int, with_lists: bool, kind: Kind) -> None:
    graph, _ = world(seed)
    rng = np.random.default_rng(seed)
    nodes = rng.integers(-1 if with_lists else 0, graph.n_nodes, 30)
    lists = rng.integers(-1, graph.n_nodes, (30, 5)) if with_lists else None
    layers = layers_of(graph, nodes, FANOUTS, seed=seed, neighbours_of=lists)
    start = rng.standard_normal((layers.n_rows(0), D)).astype(np.float32)
    model = encoder(kind)
    found = LayeredWeights.of(kind, model.arrays())(layers, start)
    assert found.dtype == np.float32
    with torch.no_grad():
        wanted = model(layers, torch.from_numpy(start)).numpy()
    # Sums over neighbours grow with the hops: the tolerance is one of their size.
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5 * max(1, np.abs(wanted).max()))


@pytest.mark.parametrize("kind", KINDS)
def test_with_all_neighbours_it_is_what_dense_matrices_give(kind: Kind) -> None:
    graph, vectors = world(3, n=9, n_labels=6)
    n = graph.n_nodes
    adjacency = csr_array((np.ones(len(graph.indices)), graph.indices, graph.indptr), shape=(n, n)).toarray()
    arrays = encoder(kind, 2).arrays()
    layers = layers_of(graph, np.arange(n), (n, n), seed=0)
    found = LayeredWeights.of(kind, arrays)(layers, np.concatenate([vectors, vectors[layers.nodes[0]]]))
    x = vectors.astype(np.float64)
    for k in range(2):
        if kind == "gin":
            hidden = ((1 + arrays["eps"][k]) * x + adjacency @ x) @ arrays["inner"][k].T + arrays[
                "inner_bias"
            ][k]
            x = np.maximum(hidden, 0) @ arrays["outer"][k].T + arrays["outer_bias"][k]
        else:
            mean = adjacency @ x / np.maximum(adjacency.sum(axis=1, keepdims=True), 1)
            hidden = np.maximum(np.concatenate([x, mean], axis=1) @ arrays["weight"][k].T, 0)
            x = hidden / np.linalg.norm(hidden, axis=1, keepdims=True)
        np.testing.assert_allclose(found[:, k], x, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_a_root_has_the_same_bits_in_every_batch(kind: Kind) -> None:
    graph, vectors = world()
    weights = LayeredWeights.of(kind, encoder(kind).arrays())
    nodes = np.random.default_rng(1).permutation(graph.n_nodes)
    together = encode(weights, graph, vectors, nodes)
    np.testing.assert_array_equal(encode(weights, graph, vectors, nodes[::-1])[::-1], together)
    for i in range(len(nodes)):
        np.testing.assert_array_equal(encode(weights, graph, vectors, nodes[i : i + 1])[0], together[i])
    for size in (2, 7, 8, 9, 33):
        np.testing.assert_array_equal(
            encode(weights, graph, vectors, nodes[3 : 3 + size]), together[3 : 3 + size]
        )
    with threads.limit(2):
        np.testing.assert_array_equal(encode(weights, graph, vectors, nodes), together)


@pytest.mark.parametrize("kind", KINDS)
def test_new_documents_have_the_same_bits_in_every_batch(kind: Kind) -> None:
    graph, vectors = world()
    weights = LayeredWeights.of(kind, encoder(kind).arrays())
    rng = np.random.default_rng(2)
    own, nodes = rng.standard_normal((40, D)).astype(np.float32), np.full(40, -1)
    nodes[::3] = rng.integers(0, graph.n_nodes, 14)
    lists = rng.integers(-1, graph.n_nodes, (40, 5))
    together = encode(weights, graph, vectors, nodes, lists, own)
    for i in range(40):
        one = slice(i, i + 1)
        alone = encode(weights, graph, vectors, nodes[one], lists[one], own[one])
        np.testing.assert_array_equal(alone[0], together[i])


@pytest.mark.parametrize("kind", KINDS)
def test_a_root_that_is_a_node_of_the_graph_keeps_its_own_vector_and_list(kind: Kind) -> None:
    # Document 0 and label 1 are each other's neighbours: hop 2 of the root meets its node again.
    graph = joint_graph(csr_array(np.ones((1, 1), np.float32)))
    vectors = np.abs(np.random.default_rng(0).standard_normal((2, D))).astype(np.float32)
    model = LayeredEncoder(kind, D, 2).eval()
    weights = LayeredWeights.of(kind, model.arrays())
    own = 2 * vectors[:1]
    layers = layers_of(graph, np.array([0]), (1, 1), seed=0, neighbours_of=np.array([[0, 1]]))
    found = weights(layers, np.concatenate([own, vectors[layers.nodes[0]]]))[0]

    def unit(x: np.ndarray) -> np.ndarray:
        return x if kind == "gin" else x / np.linalg.norm(x)

    first = unit(own[0] + vectors[1])
    np.testing.assert_allclose(found[0], first, rtol=1e-5)
    np.testing.assert_allclose(found[1], unit(first + unit(vectors[1] + vectors[0])), rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_isolated_roots_have_themselves_alone(kind: Kind) -> None:
    graph, vectors = world()
    vectors = np.abs(vectors)
    isolated = np.flatnonzero(np.diff(graph.indptr) == 0)[:1]
    found = encode(LayeredWeights.of(kind, LayeredEncoder(kind, D, 3).arrays()), graph, vectors, isolated)
    wanted = vectors[isolated] / (1 if kind == "gin" else np.linalg.norm(vectors[isolated]))
    np.testing.assert_allclose(found[0], np.repeat(wanted, 3, axis=0), rtol=1e-5)


def test_nothing_positive_stays_zero() -> None:
    graph, vectors = world()
    weights = LayeredWeights.of("graphsage", LayeredEncoder("graphsage", D, 3).arrays())
    assert not encode(weights, graph, -np.abs(vectors), np.arange(5)).any()


@pytest.mark.parametrize("kind", KINDS)
def test_no_roots(kind: Kind) -> None:
    graph, vectors = world()
    weights = LayeredWeights.of(kind, encoder(kind).arrays())
    assert encode(weights, graph, vectors, np.empty(0, np.int64)).shape == (0, 3, D)


def test_what_does_not_fit_is_an_error() -> None:
    graph, _ = world()
    weights = LayeredWeights.of("gin", encoder("gin", 2).arrays())
    layers = layers_of(graph, np.array([0]), FANOUTS, seed=0)
    with pytest.raises(UsageError, match="3 hops"):
        weights(layers, np.zeros((layers.n_rows(0), D), np.float32))
    layers = layers_of(graph, np.array([0]), FANOUTS[:2], seed=0)
    with pytest.raises(UsageError, match="do not fit"):
        weights(layers, np.zeros((layers.n_rows(0) + 1, D), np.float32))
    unknown: str = "gat"
    with pytest.raises(UsageError, match="no encoder 'gat'"):
        LayeredWeights.of(unknown, {})


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_weights_are_refused(kind: Kind) -> None:
    arrays = encoder(kind).arrays()
    for name, array in arrays.items():
        others = {other: arrays[other] for other in arrays if other != name}
        with pytest.raises(ModelIntegrityError, match=f"'{name}' of the graph encoder is missing"):
            LayeredWeights.of(kind, others)
        with pytest.raises(ModelIntegrityError, match="of the graph encoder must have the shape"):
            LayeredWeights.of(kind, {**others, name: array[..., 1:]})
        with pytest.raises(ModelIntegrityError, match=f"'{name}' of the graph encoder must be finite"):
            LayeredWeights.of(kind, {**others, name: np.full_like(array, np.nan)})
