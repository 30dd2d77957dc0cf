"""GalaXC's network against its formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from longtail.graph.hop_sums import hop_terms
from longtail.graph.joint import JointGraph
from longtail.systems.galaxc.network import NODE_WEIGHT, Network
from tests.systems.galaxc.worlds import config_of

WIDTH = 5
SWITCHES: list[dict[str, Any]] = [
    {},
    {"graph": {"fanouts": (99, 99, 99), "own": False}},
    {"transform": {"unit": False}},
    {"transform": {"batch_norm": True}},
    {"graph": {"fanouts": (99,)}},
    {"graph": {"fanouts": (99, 99), "own": False}, "transform": {"unit": False, "batch_norm": True}},
]


def graph_of(adjacency: np.ndarray) -> JointGraph:
    """A graph whose nodes are all documents; rows of 0 are isolated."""
    rows, columns = np.nonzero(adjacency)
    indptr = np.searchsorted(rows, np.arange(len(adjacency) + 1))
    numbers = np.arange(len(adjacency), dtype=np.int32)
    return JointGraph(numbers, numbers[:0], indptr, columns.astype(np.int32), np.zeros(len(columns), bool))


def adjacency_of(seed: int = 0, n: int = 7) -> np.ndarray:
    """Random and symmetric; the last node has no neighbour."""
    upper = np.triu(np.random.default_rng(seed).random((n, n)) < 0.5, 1)
    upper[:, -1] = False
    return (upper | upper.T).astype(np.float32)


def network_of(**other: Any) -> Network:
    torch.manual_seed(0)
    network = Network(WIDTH, config_of(**{"graph": {"fanouts": (99, 99, 99)}, **other}))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape))
    return network.eval()


def vectors_of(n: int = 7, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, WIDTH)).astype(np.float32)


@pytest.mark.parametrize("switches", SWITCHES, ids=str)
def test_resolutions_are_those_of_a_dense_adjacency(switches: dict[str, Any]) -> None:
    network, config = network_of(**switches), config_of(**{"graph": {"fanouts": (99, 99, 99)}, **switches})
    adjacency, v = adjacency_of(), vectors_of()
    terms = hop_terms(v, graph_of(adjacency), np.arange(7), config.graph.fanouts, seed=3)
    assert network.convolution is not None
    eps = network.convolution.eps.detach().numpy()
    assert len(eps) == len(config.graph.fanouts)
    hops = [v] if config.graph.own else []
    a = v
    for factor in 1 + eps:
        a = factor * a + adjacency @ a
        hops.append(a)
    expected = np.stack(hops, axis=1)
    if config.transform.unit:
        expected = expected / np.linalg.norm(expected, axis=2, keepdims=True)
    assert expected.shape[1] == config.graph.resolutions
    found = network.convolved(torch.from_numpy(terms)).detach().numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_a_node_without_neighbours_is_itself_times_its_factors() -> None:
    network = network_of(graph={"fanouts": (99, 99, 99), "own": False}, transform={"unit": False})
    v = vectors_of()
    terms = hop_terms(v, graph_of(adjacency_of()), np.array([6]), (99, 99, 99), seed=0)
    assert network.convolution is not None
    factors = np.cumprod(1 + network.convolution.eps.detach().numpy())
    found = network.convolved(torch.from_numpy(terms)).detach().numpy()[0]
    np.testing.assert_allclose(found, factors[:, None] * v[6], rtol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_other_numbers_for_the_same_nodes_give_the_same_sums(seed: int) -> None:
    adjacency, v = adjacency_of(seed), vectors_of()
    order = np.random.default_rng(seed).permutation(7)
    one = hop_terms(v, graph_of(adjacency), order, (99, 99, 99), seed=0)
    two = hop_terms(v[order], graph_of(adjacency[np.ix_(order, order)]), np.arange(7), (99, 99, 99), seed=5)
    np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-5)


def test_attention_rows_sum_to_one_and_follow_the_rate() -> None:
    network = network_of(classifier={"attention_rate": 4.0})
    logits = torch.randn((9, 4))
    weights = network.attention(logits)
    torch.testing.assert_close(weights.sum(dim=1), torch.ones(9))
    torch.testing.assert_close(weights, torch.softmax(4 * logits, dim=1))


def test_scores_are_those_of_each_label_s_own_view_of_a_document() -> None:
    network = network_of()
    documents, classifiers, logits = torch.randn((3, 4, WIDTH)), torch.randn((6, WIDTH)), torch.randn((6, 4))
    found = network.scores(documents, classifiers, logits)
    alpha = network.attention(logits)
    for i in range(3):
        for label in range(6):
            view = (alpha[label][:, None] * documents[i]).sum(dim=0)
            expected = 4 * (view @ classifiers[label]) + network.bias
            torch.testing.assert_close(found[i, label], expected, rtol=1e-4, atol=1e-5)


def test_without_attention_all_resolutions_count_alike() -> None:
    network = network_of(classifier={"attention": False})
    assert not network.attends
    documents, classifiers = torch.randn((3, 4, WIDTH)), torch.randn((6, WIDTH))
    alike = network.scores(documents, classifiers, torch.zeros((6, 4)))
    torch.testing.assert_close(network.scores(documents, classifiers, None), alike)


def test_a_label_s_node_is_part_of_its_classifier() -> None:
    network = network_of()
    assert network.labels is not None
    resolutions = torch.randn((3, 4, WIDTH))
    expected = (network.labels(resolutions) * network.gate).mean(dim=1)
    torch.testing.assert_close(network.node_part(resolutions), expected)
    assert (Network(WIDTH, config_of()).gate == NODE_WEIGHT).all()
    assert network_of(classifier={"node": False}).labels is None


@pytest.mark.parametrize("encoder", ["gin", "graphsage"])
def test_the_ablations_have_no_linear_convolution(encoder: str) -> None:
    network = network_of(graph={"encoder": encoder, "fanouts": (2, 2)}, classifier={"node": False})
    assert network.convolution is None
    assert network.layered is not None
    assert network.layered.hops == 2
