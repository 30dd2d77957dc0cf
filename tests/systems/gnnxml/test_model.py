"""The graph matching model: both branches, the reversed sampler, and the adaptive loss (Eq. 4 to 7)."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from longtail.errors import UsageError
from longtail.systems.gnnxml import model
from longtail.systems.gnnxml.config import NetworkConfig
from longtail.systems.gnnxml.model import (
    ClusterMatching,
    Network,
    ReversedSampler,
    ValidationGraphs,
    adaptive,
    log_odds,
    mixed,
)
from longtail.systems.gnnxml.packing import GraphStore, Packed
from longtail.training.task import Batch
from tests.systems.gnnxml.worlds import random_graphs

# --- the network -----------------------------------------------------------------------------------------

SIZES = [4, 1, 6, 3]


def packed() -> tuple[torch.Tensor, Packed]:
    graphs, features = random_graphs(SIZES, 5)
    found = GraphStore(graphs, features, weighted=False).take(np.arange(len(SIZES)))
    return torch.from_numpy(found.features), found


def network(**settings: object) -> Network:
    torch.manual_seed(0)
    config = NetworkConfig(width=7, **{"branches": 2, **settings})
    return Network(5, 3, config, np.array([0.0, -1.0, 1.0])).eval()


@pytest.mark.parametrize(
    ("settings", "shared", "alone", "size"),
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
    settings: dict[str, object], shared: int, alone: int, size: int
) -> None:
    made = network(**settings)
    assert len(made.shared) == shared
    assert [len(branch.layers) for branch in made.branches] == [alone] * int(settings["branches"])
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


# --- the reversed sampler --------------------------------------------------------------------------------

Y = csr_array(
    np.array(
        [[1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]],
        np.float32,
    )
)
"""Labels of 4, 2, 0 and 1 documents; the last document has none."""


def test_probabilities_are_those_of_the_paper() -> None:
    sampler = ReversedSampler(Y)
    assert sampler.labels.tolist() == [0, 1, 3]
    weights = np.array([4 / 4, 4 / 2, 4 / 1])
    assert np.allclose(sampler.probabilities, weights / weights.sum())


def test_frequencies_of_documents() -> None:
    sampled = np.bincount(ReversedSampler(Y).sample(70_000, seed=1), minlength=7) / 70_000
    label = np.array([1, 2, 4]) / 7
    expected = [label[0] / 4] * 3 + [label[0] / 4 + label[1] / 2, label[1] / 2, label[2], 0]
    assert np.allclose(sampled, expected, atol=0.01)


def test_the_same_seed_samples_the_same() -> None:
    sampler = ReversedSampler(Y)
    assert (sampler.sample(50, 3) == sampler.sample(50, 3)).all()
    assert (sampler.sample(50, 3) != sampler.sample(50, 4)).any()
    assert sampler.sample(0, 3).dtype == np.int64


def test_nothing_to_sample_is_said() -> None:
    with pytest.raises(UsageError, match="nothing to sample"):
        ReversedSampler(csr_array((3, 2), dtype=np.float32))


# --- the loss --------------------------------------------------------------------------------------------

CLUSTERS = csr_array(np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]], np.float32))


def task(branches: int = 2, weight_power: float = 0.0, validate: bool = False) -> ClusterMatching:
    graphs, features = random_graphs([3, 1, 4, 2, 5], 5)
    store = GraphStore(graphs, features, weighted=False)
    torch.manual_seed(0)
    config = NetworkConfig(width=6, branches=branches, dropout=0.0)
    network = Network(5, 3, config, log_odds(CLUSTERS)).eval()
    return ClusterMatching(
        network,
        store,
        CLUSTERS,
        ReversedSampler(CLUSTERS) if branches == 2 else None,
        epochs=4,
        weight_power=weight_power,
        validation=ValidationGraphs(store, CLUSTERS) if validate else None,
    )


def cross_entropy(scores: np.ndarray, right: np.ndarray, weight: np.ndarray | float = 1.0) -> float:
    p = 1 / (1 + np.exp(-scores.astype(float)))
    return float(-(weight * right * np.log(p) + (1 - right) * np.log(1 - p)).mean())


@pytest.mark.parametrize("epoch", [0, 1, 3])
@pytest.mark.parametrize("weight_power", [0.0, 0.5])
def test_the_loss_is_that_of_the_equations(epoch: int, weight_power: float) -> None:
    made = task(weight_power=weight_power)
    batch = Batch(np.array([4, 0, 1]), 11, epoch, 0)
    sampled = made.sampler.sample(3, 11)
    scores = []
    for branch, rows in ((0, batch.rows), (1, sampled)):
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
    expected += (1 - alpha) * cross_entropy(g, right[sampled], weight)
    assert made.loss(batch).item() == pytest.approx(expected, rel=1e-4)


def test_one_branch_has_the_uniform_sampler_alone() -> None:
    made = task(branches=1)
    batch = Batch(np.array([2, 3]), 1, 3, 0)
    packed = made.store.take(batch.rows)
    scores = made.network(torch.from_numpy(packed.features), packed.edges, packed.membership)
    expected = cross_entropy(scores.detach().numpy(), CLUSTERS.toarray()[[2, 3]])
    assert made.loss(batch).item() == pytest.approx(expected, rel=1e-4)


def test_alpha_moves_from_one_branch_to_the_other() -> None:
    assert [adaptive(t, 4) for t in range(4)] == [1, 15 / 16, 3 / 4, 7 / 16]


def test_metrics_of_validation_documents() -> None:
    assert task().validate() is None
    made = task(validate=True)
    with torch.no_grad():
        found = made.validate()
        packed = made.store.all()
        scores = made.network(torch.from_numpy(packed.features), packed.edges, packed.membership).numpy()
    assert found is not None
    assert found["-loss"] == pytest.approx(-cross_entropy(scores, CLUSTERS.toarray()), rel=1e-4)
    best = scores.argmax(axis=1)
    assert found["P@1"] == pytest.approx(100 * CLUSTERS.toarray()[np.arange(5), best].mean())
    assert found["R@10"] == pytest.approx(100)


def test_validation_is_the_same_in_several_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    made = task(validate=True)
    with torch.no_grad():
        whole = made.validate()
        monkeypatch.setattr(model, "BATCH", 2)
        assert made.validate() == pytest.approx(whole, rel=1e-5)


def test_odds_of_clusters() -> None:
    assert np.allclose(log_odds(CLUSTERS), np.log([4.5 / 1.5, 2.5 / 3.5, 1.5 / 4.5]))
