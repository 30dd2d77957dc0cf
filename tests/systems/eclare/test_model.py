"""The network against a dense computation of Sec. 3.3, its export, and the loss of a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array, random_array

from longtail.blocks.embedding_block import EmbeddingBlock
from longtail.blocks.gcn import Gcn
from longtail.losses.bce import bce
from longtail.losses.grank import grank
from longtail.losses.softmax import softmax
from longtail.systems.eclare import model as model_module
from longtail.systems.eclare.config import ClassifierConfig, NegativesConfig
from longtail.systems.eclare.model import Classify, Network, Targets
from longtail.training.rows import RowTable
from longtail.training.task import Batch
from longtail.training.train_config import Loss

WIDTH, TOKENS, LABELS = 6, 15, 11
COUNTS = np.arange(LABELS)


def rows(n: int, seed: int) -> csr_array:
    return csr_array(
        random_array((n, TOKENS), density=0.3, rng=np.random.default_rng(seed), dtype=np.float32)
    )


def draw(
    refinement: bool = True, **settings: Any
) -> tuple[Network, tuple[csr_array, ...], RowTable, RowTable | None]:
    """A network whose weights are no longer the initial ones, label texts and tables."""
    torch.manual_seed(0)
    config = ClassifierConfig(refinement=refinement, **{"combine": "attention", "shrinkage": 5.0, **settings})
    network = Network(WIDTH, config, refinement=refinement, dropout=0.3)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.5 * torch.randn(parameter.shape))
    network.train()
    network.documents(rows(2, 0), torch.randn((TOKENS, WIDTH)))
    texts = tuple(rows(LABELS, i + 1) for i in range(len(network.blocks)))
    rng = np.random.default_rng(0)
    tokens = RowTable(rng.standard_normal((TOKENS, WIDTH), np.float32))
    vectors = RowTable(rng.standard_normal((LABELS, WIDTH), np.float32)) if refinement else None
    return network, texts, tokens, vectors


SHAPES: list[dict[str, Any]] = [
    {},
    {"order": 2},
    {"refinement": False},
    {"lte": False},
    {"gale": "gcn"},
    {"gale": "lightgcn"},
    {"gale": "none"},
    {"combine": "sum"},
    {"gale": "none", "refinement": False},
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_exported_classifiers_are_those_of_the_network(
    shape: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_module, "EXPORTED_AT_ONCE", 4)
    network, texts, tokens, refinement = draw(**shape)
    exported, alpha = network.export_classifiers(texts, tokens, refinement, COUNTS)
    assert network.training
    network.eval()
    with torch.no_grad():
        vectors = None if refinement is None else refinement.weight * network.shrinkage(COUNTS)
        expected, weights = network.classifiers(texts, tokens.weight, vectors)
    np.testing.assert_allclose(exported, expected.numpy(), atol=1e-5)
    np.testing.assert_allclose(alpha, weights.numpy(), atol=1e-5)
    assert alpha.shape == (LABELS, len(texts) + (refinement is not None))


def test_it_is_the_formula() -> None:
    network, texts, tokens, refinement = draw()
    assert refinement is not None
    classifiers, alpha = network.export_classifiers(texts, tokens, refinement, COUNTS)
    E = tokens.weight.numpy().astype(np.float64)
    attention = network.eval().attention
    assert attention is not None
    T, A = attention.transform.weight.detach().numpy(), attention.weigh.weight.detach().numpy()
    parts = []
    for block, text in zip(network.blocks, texts, strict=True):
        assert isinstance(block, EmbeddingBlock)
        x = text.toarray() @ E
        R = block.linear.weight.detach().numpy()
        parts.append(x + float(block.scale.detach()) * np.maximum(x, 0) @ R.T)
    factor = COUNTS / (COUNTS + network.config.shrinkage)
    parts.append(refinement.weight.numpy().astype(np.float64) * factor[:, None])
    queries = np.concatenate([1 / (1 + np.exp(-np.maximum(z, 0) @ T.T)) for z in parts], axis=1)
    raised = np.exp((queries - attention.mean.numpy()) @ A.T + attention.bias.detach().numpy())
    shares = raised / raised.sum(axis=1, keepdims=True)
    lengths = np.stack([np.linalg.norm(part, axis=1) for part in parts], axis=1)
    np.testing.assert_allclose(alpha, shares * lengths, atol=1e-5)
    expected = 3 * sum(shares[:, [i]] * part for i, part in enumerate(parts))
    np.testing.assert_allclose(classifiers, expected, atol=1e-5)


def test_documents_are_relu_of_the_block_and_labels_are_not() -> None:
    network, texts, tokens, _ = draw(gale="none", refinement=False)
    network.eval()
    with torch.no_grad():
        documents = network.documents(texts[0], tokens.weight)
        x = torch.from_numpy(texts[0].toarray()) @ tokens.weight
        torch.testing.assert_close(documents, torch.relu(x + torch.relu(x) @ network.document.exported().T))
        labels, _ = network.classifiers(texts, tokens.weight, None)
    assert (documents >= 0).all()
    assert (labels < 0).any()


def test_dropout_of_documents_is_for_training() -> None:
    network, texts, tokens, _ = draw()
    assert not torch.equal(
        network.documents(texts[0], tokens.weight), network.documents(texts[0], tokens.weight)
    )
    network.eval()
    assert torch.equal(network.documents(texts[0], tokens.weight), network.documents(texts[0], tokens.weight))


@pytest.mark.parametrize(
    ("shape", "kinds"),
    [
        ({}, [EmbeddingBlock, EmbeddingBlock]),
        ({"lte": False}, [EmbeddingBlock]),
        ({"order": 3}, [EmbeddingBlock] * 4),
        ({"gale": "gcn"}, [EmbeddingBlock, Gcn]),
        ({"gale": "lightgcn"}, [EmbeddingBlock, torch.nn.Identity]),
        ({"gale": "none"}, [EmbeddingBlock]),
        ({"gale": "none", "combine": "sum"}, [EmbeddingBlock]),
    ],
)
def test_a_switch_builds_what_it_says(shape: dict[str, Any], kinds: list[type]) -> None:
    network, *_ = draw(**shape)
    assert [type(block) for block in network.blocks] == kinds
    parts = len(kinds) + 1
    attention = network.attention
    assert (attention is None) == (shape.get("combine") == "sum")
    if attention is not None:
        assert attention.weigh.weight.shape == (parts, parts * WIDTH)


def test_a_sum_needs_no_attention() -> None:
    network, texts, tokens, refinement = draw(combine="sum", shrinkage=0.0)
    assert network.attention is None
    assert refinement is not None
    classifiers, alpha = network.export_classifiers(texts, tokens, refinement, COUNTS)
    network.eval()
    with torch.no_grad():
        parts = [
            block(torch.from_numpy(text.toarray()) @ tokens.weight)
            for block, text in zip(network.blocks, texts, strict=True)
        ]
    np.testing.assert_allclose(classifiers, sum(parts).numpy() + refinement.weight.numpy(), atol=1e-5)
    every = [part.numpy() for part in parts] + [refinement.weight.numpy()]
    lengths = np.stack([np.linalg.norm(part, axis=1) for part in every], axis=1)
    np.testing.assert_allclose(alpha, lengths, atol=1e-5)


@pytest.mark.parametrize("gale", ["block", "gcn", "lightgcn"])
def test_exported_blocks_are_what_new_labels_need(gale: str) -> None:
    network, *_ = draw(gale=gale)
    exported = network.exported_blocks()
    assert exported.shape == (2, WIDTH, WIDTH)
    network.eval()
    lte, other = network.blocks
    assert isinstance(lte, EmbeddingBlock)
    np.testing.assert_allclose(exported[0], lte.exported().numpy(), atol=1e-6)
    if isinstance(other, EmbeddingBlock):
        np.testing.assert_allclose(exported[1], other.exported().numpy(), atol=1e-6)
    elif isinstance(other, Gcn):
        np.testing.assert_allclose(exported[1], other.linear.weight.detach().numpy(), atol=1e-6)
    else:
        assert (exported[1] == 0).all()


def test_refinement_vectors_of_rare_labels_are_shrunk() -> None:
    counts = np.array([0, 1, 5, 95])
    network, *_ = draw(shrinkage=5.0)
    np.testing.assert_allclose(network.shrinkage(counts)[:, 0], [0, 1 / 6, 1 / 2, 0.95], rtol=1e-6)
    paper, *_ = draw(shrinkage=0.0)
    assert paper.shrinkage(counts).tolist() == [[1], [1], [1], [1]]


def test_one_part_alone_needs_no_attention() -> None:
    network, *_ = draw(gale="none", refinement=False)
    assert network.attention is None


def test_a_network_starts_from_another_without_its_attention() -> None:
    trained, texts, tokens, _ = draw(refinement=False)
    torch.manual_seed(1)
    fresh = Network(WIDTH, ClassifierConfig(combine="attention"), refinement=True, dropout=0.3)
    fresh.start_from(trained)
    assert trained.attention is not None
    assert fresh.attention is not None
    assert fresh.attention.weigh.weight.shape != trained.attention.weigh.weight.shape
    for network in (trained, fresh):
        network.eval()
    with torch.no_grad():
        one, two = (network.documents(texts[0], tokens.weight) for network in (trained, fresh))
    torch.testing.assert_close(one, two, rtol=0, atol=0)
    np.testing.assert_array_equal(fresh.exported_blocks(), trained.exported_blocks())
    # A copy: what is trained further does not change the network that it came from.
    with torch.no_grad():
        fresh.document.scale.add_(1)
    assert not torch.equal(fresh.document.scale, trained.document.scale)


# --- the loss of a batch ------------------------------------------------------------------------------------

Y = csr_array(
    np.array([[1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]], np.float32)
)
HARD = np.array([[1, 5, -1], [0, 2, 3], [-1, -1, -1], [2, 0, -1]], np.int32)
SELF = np.array([3, -1, 0, 1])


def task_of(
    *,
    loss: Loss = "bce",
    hard: np.ndarray | None = HARD,
    self_label: np.ndarray | None = None,
    tail_weight: float = 0.0,
    shrinkage: float = 0.0,
    batch_size: int = 4,
    **negatives: Any,
) -> Classify:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    config = ClassifierConfig(gale="none", shrinkage=shrinkage)
    network = Network(WIDTH, config, refinement=True, dropout=0.0)
    texts = (csr_array(rng.random((6, TOKENS), np.float32)),)
    return Classify(
        network,
        RowTable(rng.standard_normal((TOKENS, WIDTH), np.float32)),
        RowTable(rng.standard_normal((6, WIDTH), np.float32)),
        csr_array(rng.random((4, TOKENS), np.float32)),
        Targets(Y, texts, self_label=self_label, hard=hard),
        loss,
        NegativesConfig(**{"corrected": False, "random": 0, "hard": 3, **negatives}),
        tail_weight,
        batch_size,
    )


def batch_of(*rows: int, seed: int = 0) -> Batch:
    return Batch(np.array(rows), seed, 0, 0)


def scores_of(task: Classify, batch: Batch, columns: np.ndarray) -> torch.Tensor:
    """Products of documents and classifiers, of all labels first."""
    network, targets = task.network, task.targets
    documents = network.documents(task.X[batch.rows], task.tokens.weight)
    assert task.refinement is not None
    refinement = task.refinement.weight * network.shrinkage(targets.counts)
    classifiers, _ = network.classifiers(targets.texts, task.tokens.weight, refinement)
    return (documents @ classifiers.T)[:, columns] + network.bias


@pytest.mark.parametrize(("name", "loss"), [("bce", bce), ("grank", grank), ("softmax", softmax)])
@pytest.mark.parametrize("more", [{}, {"tail_weight": 0.7}, {"shrinkage": 3.0}, {"corrected": True}], ids=str)
def test_the_loss_is_the_mean_over_the_documents(name: Loss, loss: Any, more: dict[str, Any]) -> None:
    task = task_of(loss=name, self_label=SELF, **more)
    task.network.eval()
    batch = batch_of(0, 1, 3)
    sampled = task.sampler.sample(batch)
    scores = scores_of(task, batch, sampled.columns)
    positive, negative = torch.from_numpy(sampled.positive), torch.from_numpy(sampled.negative)
    assert bool(sampled.log_weight.any()) == ("corrected" in more)
    shifted = torch.ones(negative.shape) if name == "bce" else negative.float()
    scores = scores + shifted * torch.from_numpy(sampled.log_weight)
    counts = torch.tensor([1.0, 1, 1, 0, 2, 0])[sampled.columns]
    weight = -0.7 * counts.clamp(min=1).log() if "tail_weight" in more else None
    expected = loss(scores, positive, negative, weight).mean()
    torch.testing.assert_close(task.loss(batch), expected)


@pytest.mark.parametrize("scope", ["batch", "document"])
def test_which_labels_are_negatives(scope: str) -> None:
    sampled = task_of(self_label=SELF, scope=scope).sampler.sample(batch_of(0, 1))
    assert sampled.columns.tolist() == [0, 1, 2, 3, 4, 5]
    assert np.array_equal(sampled.positive, Y[[0, 1]].toarray() > 0)
    of_both = [[1, 2, 5], [0, 2, 3, 5]]
    of_each = [[1, 5], [0, 2, 3]]
    found = [np.flatnonzero(row).tolist() for row in sampled.negative]
    assert found == (of_both if scope == "batch" else of_each)


def test_the_loss_has_a_gradient_for_every_weight() -> None:
    task = task_of()
    torch.autograd.backward(task.loss(batch_of(0, 1)))
    for table in task.tables().values():
        found = table.gradient()
        assert found is not None
        assert (found[1] != 0).any()
    assert all(parameter.grad is not None for parameter in task.network.parameters())


def test_cross_entropy_starts_at_the_odds_of_a_label_and_trains_the_bias() -> None:
    bias = task_of(loss="bce").network.bias
    assert bias.item() == pytest.approx(np.log(Y.nnz / (4 * 6 - Y.nnz)))
    assert bias.requires_grad


def test_ranking_losses_do_not_train_the_bias() -> None:
    for loss in ("grank", "softmax"):
        bias = task_of(loss=loss).network.bias
        assert bias.item() == 0
        assert not bias.requires_grad
