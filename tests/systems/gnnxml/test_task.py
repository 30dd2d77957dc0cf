"""The adaptive loss of pairs (Eq. 6 and 7)."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from longtail.systems.gnnxml.config import NetworkConfig
from longtail.systems.gnnxml.network import Network
from longtail.systems.gnnxml.packing import GraphStore
from longtail.systems.gnnxml.samplers import ReversedSampler
from longtail.systems.gnnxml.task import Match, adaptive, log_odds
from longtail.training.task import Batch
from tests.systems.gnnxml.worlds import random_graphs

CLUSTERS = csr_array(np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]], np.float32))


def task(branches: int = 2, weight_power: float = 0.0, held: bool = False) -> Match:
    graphs, features = random_graphs([3, 1, 4, 2, 5], 5)
    store = GraphStore(graphs, features, weighted=False)
    torch.manual_seed(0)
    config = NetworkConfig(width=6, branches=branches, dropout=0.0)
    network = Network(5, 3, config, log_odds(CLUSTERS)).eval()
    return Match(
        network,
        store,
        CLUSTERS,
        ReversedSampler(CLUSTERS) if branches == 2 else None,
        epochs=4,
        weight_power=weight_power,
        held=(store, np.array([0, 2, 3]), CLUSTERS[[0, 2, 3]]) if held else None,
    )


def cross_entropy(scores: np.ndarray, right: np.ndarray, weight: np.ndarray | float = 1.0) -> float:
    p = 1 / (1 + np.exp(-scores.astype(float)))
    return float(-(weight * right * np.log(p) + (1 - right) * np.log(1 - p)).mean())


@pytest.mark.parametrize("epoch", [0, 1, 3])
@pytest.mark.parametrize("weight_power", [0.0, 0.5])
def test_the_loss_is_that_of_the_equations(epoch: int, weight_power: float) -> None:
    made = task(weight_power=weight_power)
    batch = Batch(np.array([4, 0, 1]), 11, epoch, 0)
    drawn = made.sampler.draw(3, 11)
    scores = []
    for branch, rows in ((0, batch.rows), (1, drawn)):
        packed = made.store.take(rows)
        found = made.network.scores(
            branch, torch.from_numpy(packed.features), packed.edges, packed.membership
        )
        scores.append(found.detach().numpy())
    alpha = 1 - (epoch / 4) ** 2
    g = alpha * scores[0] + (1 - alpha) * scores[1]
    counts = CLUSTERS.toarray().sum(axis=0)
    weight = ((5 - counts + 0.5) / (counts + 0.5)) ** weight_power
    right = CLUSTERS.toarray()
    expected = alpha * cross_entropy(g, right[batch.rows], weight)
    expected += (1 - alpha) * cross_entropy(g, right[drawn], weight)
    assert made.loss(batch).item() == pytest.approx(expected, rel=1e-4)


def test_one_branch_has_the_uniform_sampler_alone() -> None:
    made = task(branches=1)
    batch = Batch(np.array([2, 3]), 1, 3, 0)
    packed = made.store.take(batch.rows)
    scores = made.network(torch.from_numpy(packed.features), packed.edges, packed.membership)
    expected = cross_entropy(scores.detach().numpy(), CLUSTERS.toarray()[[2, 3]])
    assert made.loss(batch).item() == pytest.approx(expected, rel=1e-4)


def test_attention_moves_from_one_branch_to_the_other() -> None:
    assert [adaptive(t, 4) for t in range(4)] == [1, 15 / 16, 3 / 4, 7 / 16]


def test_figures_of_validation_documents() -> None:
    assert task().validate() is None
    made = task(held=True)
    with torch.no_grad():
        found = made.validate()
        packed = made.store.take(np.array([0, 2, 3]))
        scores = made.network(torch.from_numpy(packed.features), packed.edges, packed.membership).numpy()
    assert found is not None
    assert found["-loss"] == pytest.approx(-cross_entropy(scores, CLUSTERS.toarray()[[0, 2, 3]]), rel=1e-4)
    best = scores.argmax(axis=1)
    assert found["P@1"] == pytest.approx(100 * CLUSTERS.toarray()[[0, 2, 3], best].mean())
    assert found["R@10"] == pytest.approx(100)


def test_odds_of_clusters() -> None:
    assert np.allclose(log_odds(CLUSTERS), np.log([4.5 / 1.5, 2.5 / 3.5, 1.5 / 4.5]))
