"""GIN and GraphSAGE against dense matrices, how they begin, and a gradient for every weight."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from longtail.blocks.layered_encoder import LayeredEncoder, neighbour_sums
from longtail.errors import UsageError
from longtail.graph.hop_sums import combine, hop_terms
from longtail.graph.joint import JointGraph, joint_graph
from longtail.graph.layers import layers_of

D = 4
Kind = Literal["gin", "graphsage"]
KINDS: tuple[Kind, ...] = ("gin", "graphsage")


def small_world() -> tuple[JointGraph, np.ndarray, np.ndarray]:
    """A graph with an isolated node, its dense adjacency, and vectors."""
    rng = np.random.default_rng(0)
    labels = rng.random((9, 6)) < 0.3
    labels[4] = False
    graph = joint_graph(csr_array(labels.astype(np.float32)))
    n = graph.n_nodes
    adjacency = csr_array((np.ones(len(graph.indices)), graph.indices, graph.indptr), shape=(n, n)).toarray()
    return graph, adjacency, rng.standard_normal((n, D)).astype(np.float32)


def changed(kind: Kind, hops: int, dropout: float = 0.2) -> LayeredEncoder:
    """An encoder whose weights are no longer the first ones."""
    torch.manual_seed(hops)
    encoder = LayeredEncoder(kind, D, hops, dropout)
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return encoder


def dense(encoder: LayeredEncoder, adjacency: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The same for all nodes of a graph, in float64."""
    w = {name: array.astype(np.float64) for name, array in encoder.arrays().items()}
    orders = []
    for k in range(encoder.hops):
        if encoder.kind == "gin":
            mixed = (1 + w["eps"][k]) * x + adjacency @ x
            hidden = np.maximum(mixed @ w["inner"][k].T + w["inner_bias"][k], 0)
            x = hidden @ w["outer"][k].T + w["outer_bias"][k]
        else:
            mean = adjacency @ x / np.maximum(adjacency.sum(axis=1, keepdims=True), 1)
            hidden = np.maximum(np.concatenate([x, mean], axis=1) @ w["weight"][k].T, 0)
            x = hidden / np.maximum(np.linalg.norm(hidden, axis=1, keepdims=True), 1e-12)
        orders.append(x)
    return np.stack(orders, axis=1)


@pytest.mark.parametrize("hops", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_with_all_neighbours_it_is_what_dense_matrices_give(kind: Kind, hops: int) -> None:
    graph, adjacency, vectors = small_world()
    encoder = changed(kind, hops).eval()
    nodes = np.array([3, 4, 11, 3])
    layers = layers_of(graph, nodes, [graph.n_nodes] * hops, seed=0)
    start = torch.from_numpy(np.concatenate([vectors[nodes], vectors[layers.nodes[0]]]))
    found = encoder(layers, start).detach().numpy()
    assert found.shape == (4, hops, D)
    np.testing.assert_allclose(found, dense(encoder, adjacency, vectors)[nodes], rtol=1e-4, atol=1e-5)


def test_gin_begins_as_a_convolution_without_anything_between_hops() -> None:
    graph, _, vectors = small_world()
    nodes, fanouts = np.arange(graph.n_nodes), (2, 2, 2)
    layers = layers_of(graph, nodes, fanouts, seed=1)
    start = torch.from_numpy(np.concatenate([vectors, vectors[layers.nodes[0]]]))
    found = LayeredEncoder("gin", D, 3).eval()(layers, start).detach().numpy()
    wanted = combine(hop_terms(vectors, graph, nodes, fanouts, seed=1), np.zeros(3))
    np.testing.assert_allclose(found, np.stack(wanted, axis=1), rtol=1e-5, atol=1e-5)


def test_graphsage_begins_as_a_direction_between_a_node_and_its_neighbours() -> None:
    graph, adjacency, vectors = small_world()
    vectors[:, 0] = 1
    layers = layers_of(graph, np.arange(graph.n_nodes), (graph.n_nodes,), seed=1)
    start = torch.from_numpy(np.concatenate([vectors, vectors[layers.nodes[0]]]))
    found = LayeredEncoder("graphsage", D, 1).eval()(layers, start)[:, 0].detach().numpy()
    mean = adjacency @ vectors / np.maximum(adjacency.sum(axis=1, keepdims=True), 1)
    both = np.maximum(vectors + mean, 0)
    np.testing.assert_allclose(
        found, both / np.linalg.norm(both, axis=1, keepdims=True), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_root_has_the_row_and_the_list_it_came_with(kind: Kind) -> None:
    graph, adjacency, vectors = small_world()
    encoder = changed(kind, 2).eval()
    n = graph.n_nodes
    # A node of the graph and a new document, each with a vector and neighbours of its own.
    lists, own = np.array([[9, 3, -1], [-1, -1, 2]]), np.full((2, D), 0.5, np.float32)
    layers = layers_of(graph, np.array([3, -1]), (n, n), seed=0, neighbours_of=lists)
    found = encoder(layers, torch.from_numpy(np.concatenate([own, vectors[layers.nodes[0]]])))
    wider = np.zeros((n + 2, n + 2))
    wider[:n, :n] = adjacency
    wider[n, 9] = wider[n + 1, 2] = 1
    wanted = dense(encoder, wider, np.concatenate([vectors, own]))[n:]
    np.testing.assert_allclose(found.detach().numpy(), wanted, rtol=1e-4, atol=1e-5)


def test_sums_leave_out_what_is_not_there() -> None:
    x = torch.tensor([[1.0, 2.0], [10.0, 20.0], [100.0, 200.0]])
    places = torch.tensor([[0, 2], [-1, 1], [-1, -1], [1, 1]])
    assert neighbour_sums(x, places).tolist() == [[101, 202], [10, 20], [0, 0], [20, 40]]
    assert neighbour_sums(x, places[:0]).shape == (0, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_every_weight_is_learnt(kind: Kind) -> None:
    graph, _, vectors = small_world()
    nodes = np.array([0, 4, 12])
    layers = layers_of(graph, nodes, (2, 2), seed=0)
    encoder = changed(kind, 2, dropout=0.0).double()
    start = torch.from_numpy(np.concatenate([vectors[nodes], vectors[layers.nodes[0]]])).double()
    assert torch.autograd.gradcheck(lambda x: encoder(layers, x), (start.requires_grad_(),))
    torch.autograd.backward((encoder(layers, start) * torch.randn((3, 2, D))).sum())
    for parameter in encoder.parameters():
        assert parameter.grad is not None
        assert all(part.any() for part in parameter.grad)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_positive_does_no_harm(kind: Kind) -> None:
    graph, _, _ = small_world()
    layers = layers_of(graph, np.array([4, 0]), (2, 2), seed=0)
    encoder = LayeredEncoder(kind, D, 2, dropout=0.0)
    found = encoder(layers, torch.full((layers.n_rows(0), D), -1.0))
    torch.autograd.backward(found.sum())
    assert all(p.grad is not None and p.grad.isfinite().all() for p in encoder.parameters())
    if kind == "graphsage":
        assert not found.any()


@pytest.mark.parametrize("kind", KINDS)
def test_dropout_is_for_training_alone(kind: Kind) -> None:
    graph, _, vectors = small_world()
    layers = layers_of(graph, np.arange(graph.n_nodes), (2, 2), seed=0)
    start = torch.from_numpy(np.concatenate([vectors, vectors[layers.nodes[0]]]))
    encoder = changed(kind, 2, dropout=0.5)
    assert not torch.equal(encoder(layers, start), encoder(layers, start))
    encoder.eval()
    assert torch.equal(encoder(layers, start), encoder(layers, start))


@pytest.mark.parametrize("kind", KINDS)
def test_no_roots(kind: Kind) -> None:
    layers = layers_of(small_world()[0], np.empty(0, np.int64), (2, 2), seed=0)
    assert LayeredEncoder(kind, D, 2)(layers, torch.empty((0, D))).shape == (0, 2, D)


def test_arrays_are_copies() -> None:
    encoder = changed("gin", 2)
    arrays = encoder.arrays()
    assert sorted(arrays) == ["eps", "inner", "inner_bias", "outer", "outer_bias"]
    before = arrays["eps"].copy()
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.zero_()
    np.testing.assert_array_equal(arrays["eps"], before)
    assert sorted(changed("graphsage", 2).arrays()) == ["weight"]


def test_what_does_not_fit_is_an_error() -> None:
    layers = layers_of(small_world()[0], np.array([0]), (2, 2), seed=0)
    rows = layers.n_rows(0)
    with pytest.raises(UsageError, match="2 hops"):
        LayeredEncoder("gin", D, 3)(layers, torch.zeros((rows, D)))
    with pytest.raises(UsageError, match="do not fit"):
        LayeredEncoder("gin", D, 2)(layers, torch.zeros((rows - 1, D)))
    unknown: str = "gat"
    with pytest.raises(UsageError, match="no encoder 'gat'"):
        LayeredEncoder(unknown, D, 2)
