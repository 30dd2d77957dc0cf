"""Both branches, what they share, and how they are mixed."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from longtail.systems.gnnxml.config import NetworkConfig
from longtail.systems.gnnxml.network import Network, mixed
from longtail.systems.gnnxml.packing import GraphStore, Packed
from tests.systems.gnnxml.worlds import random_graphs

SIZES = [4, 1, 6, 3]


def packed() -> tuple[torch.Tensor, Packed]:
    graphs, features = random_graphs(SIZES, 5)
    found = GraphStore(graphs, features, weighted=False).take(np.arange(len(SIZES)))
    return torch.from_numpy(found.features), found


def network(**settings: object) -> Network:
    torch.manual_seed(0)
    return Network(5, 3, NetworkConfig(width=7, **settings), np.array([0.0, -1.0, 1.0])).eval()


@pytest.mark.parametrize(
    ("settings", "shared", "own", "size"),
    [
        ({"layers": 0, "branches": 1}, 0, 0, 5),
        ({"layers": 2, "branches": 1, "concatenate": False}, 0, 2, 7),
        ({"layers": 2, "branches": 2, "concatenate": False}, 1, 1, 7),
        ({"layers": 2, "branches": 2}, 1, 1, 19),
        ({"layers": 3, "branches": 2, "shared": 0}, 0, 3, 26),
        ({"layers": 2, "branches": 2, "shared": 9}, 2, 0, 19),
    ],
    ids=["v1", "v2", "v3", "v4", "nothing shared", "all shared"],
)
def test_the_ablations_have_their_parts(
    settings: dict[str, object], shared: int, own: int, size: int
) -> None:
    made = network(**settings)
    assert len(made.shared) == shared
    assert [len(branch.layers) for branch in made.branches] == [own] * int(settings["branches"])
    assert made.branches[0].classifier.in_features == size
    features, graphs = packed()
    assert made(features, graphs.edges, graphs.membership).shape == (4, 3)


def test_prediction_mixes_the_branches_evenly() -> None:
    made = network()
    features, graphs = packed()
    both = [made.scores(b, features, graphs.edges, graphs.membership) for b in range(2)]
    assert not torch.allclose(both[0], both[1])
    assert torch.allclose(made(features, graphs.edges, graphs.membership), (both[0] + both[1]) / 2, atol=1e-6)
    single = network(branches=1)
    assert torch.allclose(
        single(features, graphs.edges, graphs.membership),
        single.scores(0, features, graphs.edges, graphs.membership),
    )


def test_the_mix_is_that_of_the_equation() -> None:
    one, other = torch.tensor([1.0]), torch.tensor([3.0])
    assert mixed(one, other, 0.75).item() == pytest.approx(0.75 * 1 + 0.25 * 3)
    assert mixed(one, other, 1.0).item() == 1


def test_a_graph_is_the_same_alone_as_among_others() -> None:
    made = network()
    features, graphs = packed()
    together = made(features, graphs.edges, graphs.membership)
    key_graphs, every = random_graphs(SIZES, 5)
    store = GraphStore(key_graphs, every, weighted=False)
    for i in range(4):
        alone = store.take(np.array([i]))
        found = made(torch.from_numpy(alone.features), alone.edges, alone.membership)
        assert torch.allclose(found[0], together[i], atol=1e-5)


def test_biases_begin_at_the_clusters_odds() -> None:
    made = network()
    for branch in made.branches:
        assert branch.classifier.bias.tolist() == [0.0, -1.0, 1.0]
