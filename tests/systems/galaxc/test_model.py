"""GalaXC's network against its formulas; its task: sampled neighbours and labels, what is trained, what is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from longtail.graph.hop_sums import hop_terms
from longtail.graph.joint import JointGraph
from longtail.losses.bce import bce
from longtail.losses.grank import grank
from longtail.systems.galaxc.model import NODE_WEIGHT, GraphEncoder, Network, ScoreLabels, shrinkage_factors
from longtail.training.batches import Batch
from longtail.training.train_config import TrainConfig
from longtail.training.trainer import train
from tests.planted import Parts
from tests.systems.galaxc.worlds import Setup, config_of, setup_of

CPU = torch.device("cpu")
WIDTH = 5
SWITCHES: list[dict[str, Any]] = [
    {},
    {"graph": {"fanouts": (99, 99, 99), "include_initial": False}},
    {"transform": {"unit": False}},
    {"transform": {"batch_norm": True}},
    {"graph": {"fanouts": (99,)}},
    {
        "graph": {"fanouts": (99, 99), "include_initial": False},
        "transform": {"unit": False, "batch_norm": True},
    },
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
    hops = [v] if config.graph.include_initial else []
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
    network = network_of(graph={"fanouts": (99, 99, 99), "include_initial": False}, transform={"unit": False})
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


# --- the task -----------------------------------------------------------------------------------------------------


def task_of(setup: Setup, hard: np.ndarray | None = None, **parts: Any) -> ScoreLabels:
    return ScoreLabels(
        setup.parameters.network,
        setup.parameters.free,
        setup.parameters.logits,
        setup.nodes,
        setup.documents,
        setup.neighbourhoods,
        setup.context.matrices.Y,
        setup.context.matrices.self_label,
        hard,
        setup.context.config,
        **parts,
    )


def begun(task: ScoreLabels, seed: int = 0) -> ScoreLabels:
    torch.manual_seed(seed)
    task.on_epoch_start(0)
    return task


def hard_of(setup: Setup, m: int = 6) -> np.ndarray:
    """Some wrong labels of each document."""
    Y = setup.context.matrices.Y.toarray()
    return np.argsort(Y, axis=1, kind="stable")[:, :m].astype(np.int32)


def batch_of(*rows: int) -> Batch:
    return Batch(np.array(rows), 0, 0, 0)


@pytest.mark.parametrize(("name", "compare"), [("bce", bce), ("grank", grank)])
@pytest.mark.parametrize("node", [True, False])
@pytest.mark.parametrize("attention", [True, False])
def test_the_loss_is_that_of_all_parts(
    tiny: Parts, name: str, compare: Any, node: bool, attention: bool
) -> None:
    setup = setup_of(
        tiny.train,
        loss=name,
        classifier={"node": node, "attention": attention, "attention_init_scale": 1.0, "shrinkage": 3.0},
        negatives={"random": 1000, "corrected": False},
        neighbourhood={"near": 0.5, "visible_in_loss": True, "leave_out": False},
    )
    setup.parameters.free.weight.normal_(generator=torch.Generator().manual_seed(1))
    task = begun(task_of(setup))
    task.network.eval()
    batch = batch_of(0, 5, 9, 20)
    network = task.network
    encoder = task._encoder
    documents = network.documents(
        encoder.documents(task._neighbours[batch.rows], setup.documents[batch.rows], CPU)
    )
    counts = np.bincount(setup.context.matrices.Y.indices, minlength=40)
    classifiers = setup.parameters.free.weight * torch.from_numpy(counts / (counts + 3.0)).float()[:, None]
    if node:
        classifiers = classifiers + network.node_part(encoder.labels(np.arange(40), CPU))
    scores = network.scores(documents, classifiers, setup.parameters.logits.weight if attention else None)
    positive = torch.from_numpy(setup.context.matrices.Y[batch.rows].toarray() > 0)
    expected = compare(scores, positive, ~positive, None).mean()
    torch.testing.assert_close(task.loss(batch), expected, rtol=1e-4, atol=1e-5)


def test_sums_of_labels_are_kept_for_an_epoch_where_there_is_room(
    tiny: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = setup_of(tiny.train)
    kept = begun(task_of(setup))
    kept.network.eval()
    assert kept._label_terms is not None
    first = kept.loss(batch_of(1, 2, 3))
    monkeypatch.setattr("longtail.systems.galaxc.model.KEPT_BYTES", 0)
    begun(kept)
    assert kept._label_terms is None
    torch.testing.assert_close(kept.loss(batch_of(1, 2, 3)), first)


def test_documents_of_a_batch_are_no_neighbours_of_their_rare_labels(
    tiny: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longtail.systems.galaxc.model.RARE", 20)
    setup = setup_of(tiny.train, graph={"fanouts": (300,)})
    task = begun(task_of(setup))
    Y, vectors = setup.context.matrices.Y, setup.nodes.vectors
    rows, every = np.array([0, 5, 9, 20]), np.arange(40)
    counts = np.bincount(Y.indices, minlength=40)
    own = np.asarray(Y[rows].sum(axis=0)) > 0
    assert (own & (counts <= 20)).any()
    assert (own & (counts > 20)).any()
    terms = task.label_terms(every, Batch(rows, 0, 0, 0))
    documents = vectors[setup.nodes.graph.node_of_document]
    for label in every:
        with_it = np.asarray(Y[:, [label]].todense()).ravel() > 0
        if counts[label] <= 20:
            with_it[rows] = False
        np.testing.assert_allclose(terms[label, 1], documents[with_it].sum(axis=0), atol=1e-4)
    # Labels that no document of the batch has are untouched either way.
    seen = task_of(setup_of(tiny.train, graph={"fanouts": (300,)}, neighbourhood={"leave_out": False}))
    assert np.array_equal(begun(seen).label_terms(every, Batch(rows, 0, 0, 0))[~own], terms[~own])


def test_neighbours_are_sampled_in_each_epoch(tiny: Parts) -> None:
    task = begun(task_of(setup_of(tiny.train, neighbourhood={"near": 0.5})))
    neighbours, seed = task._neighbours.copy(), task._encoder.seed
    assert np.array_equal(begun(task)._neighbours, neighbours)
    begun(task, seed=1)
    assert not np.array_equal(task._neighbours, neighbours)
    assert task._encoder.seed != seed


def test_visible_labels_do_not_count_in_the_loss(tiny: Parts) -> None:
    for counted, near in ((False, 0.0), (True, 0.0), (False, 1.0)):
        setup = setup_of(
            tiny.train, neighbourhood={"near": near, "mask_positive": 0.0, "visible_in_loss": counted}
        )
        task = begun(task_of(setup))
        sampled = task.sampler.sample(batch_of(0, 5, 9))
        assert bool(sampled.positive.any()) == (counted or near == 1.0)
        own = set(setup.nodes.graph.node_of_label[setup.context.matrices.Y[[5]].indices].tolist())
        if near == 0.0:
            assert own & set(task._neighbours[5].tolist()) == own


def test_module_one_trains_everything(tiny: Parts) -> None:
    task = begun(task_of(setup_of(tiny.train, loss="bce", neighbourhood={"visible_in_loss": True})))
    torch.autograd.backward(task.loss(batch_of(*range(30))))
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in task.network.parameters())
    for table in task.tables().values():
        found = table.gradient()
        assert found is not None
        assert (found[1] != 0).any()


@pytest.mark.parametrize("encoder", ["galaxc", "gin", "graphsage"])
def test_module_four_leaves_what_makes_embeddings(tiny: Parts, encoder: str) -> None:
    node = encoder == "galaxc"
    setup = setup_of(
        tiny.train,
        graph={"encoder": encoder},
        classifier={"node": node},
        transform={"batch_norm": True},
        loss="bce",
    )
    network = setup.parameters.network
    settings = TrainConfig(epochs=1, lr=0.02, batch_size=64, weight_decay=0.1)
    train(task_of(setup), settings, stage="joint", seed=0, run=setup.context.run)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    tables = [table.weight.clone() for table in (setup.parameters.free, setup.parameters.logits)]
    train(task_of(setup, hard_of(setup)), settings, stage="refine", seed=0, run=setup.context.run)
    changed = {name for name, value in network.state_dict().items() if not torch.equal(value, before[name])}
    assert changed == {"bias"}
    for old, table in zip(tables, (setup.parameters.free, setup.parameters.logits), strict=True):
        assert not torch.equal(old, table.weight)


def test_module_four_has_no_dropout_and_samples_hard_negatives(tiny: Parts) -> None:
    setup = setup_of(tiny.train, neighbourhood={"near": 1.0})
    hard = hard_of(setup)
    task = begun(task_of(setup, hard))
    batch = batch_of(5, 9)
    torch.testing.assert_close(task.loss(batch), task.loss(batch), rtol=0, atol=0)
    sampled = task.sampler.sample(batch)
    right = set(setup.context.matrices.Y[batch.rows].indices.tolist())
    assert set(sampled.columns.tolist()) <= right | set(hard[batch.rows].ravel().tolist())
    assert len(sampled.columns) > len(right)


def test_without_attention_its_logits_are_no_table(tiny: Parts) -> None:
    assert set(task_of(setup_of(tiny.train)).tables()) == {"free", "logits"}
    setup = setup_of(tiny.train, classifier={"attention": False})
    assert set(task_of(setup).tables()) == {"free"}


@pytest.mark.parametrize("kind", ["galaxc", "gin", "graphsage"])
def test_resolutions_do_not_depend_on_the_batch(tiny: Parts, kind: str) -> None:
    setup = setup_of(tiny.train, graph={"encoder": kind}, classifier={"node": kind == "galaxc"})
    network = setup.parameters.network.eval()
    encoder = GraphEncoder(network, setup.nodes, (4, 3, 2), 3)
    near = setup.neighbourhoods.near[:20]
    with torch.no_grad():
        together = encoder.documents(near, setup.documents[:20], CPU)
        alone = torch.cat([encoder.documents(near[[i]], setup.documents[[i]], CPU) for i in range(20)])
    torch.testing.assert_close(together, alone, rtol=1e-5, atol=1e-6)


def test_several_samples_are_averaged(tiny: Parts) -> None:
    setup = setup_of(tiny.train, graph={"include_initial": False}, transform={"unit": False})
    encoder = GraphEncoder(setup.parameters.network.eval(), setup.nodes, (2, 2, 2), 3)
    some = np.array([0, 3, 7])
    mean = encoder.labels(some, CPU, 3)
    parts = [GraphEncoder(encoder.network, setup.nodes, (2, 2, 2), 3 + i).labels(some, CPU) for i in range(3)]
    torch.testing.assert_close(mean, torch.stack(parts).mean(dim=0), rtol=1e-4, atol=1e-4)


def test_rare_labels_free_parts_count_less() -> None:
    found = shrinkage_factors(np.array([0, 5, 95]), 5.0).ravel().tolist()
    assert found == pytest.approx([0, 0.5, 0.95])
    assert shrinkage_factors(np.array([0, 5]), 0.0).ravel().tolist() == [1, 1]
