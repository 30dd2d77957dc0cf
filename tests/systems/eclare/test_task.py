"""Which labels of a batch are right, wrong or neither, and what that costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from longtail.losses.bce import bce
from longtail.losses.grank import grank
from longtail.losses.softmax import softmax
from longtail.systems.eclare.config import ClassifierConfig, Loss, NegativesConfig
from longtail.systems.eclare.network import Network
from longtail.systems.eclare.task import Classify, Targets
from longtail.training.rows import RowTable
from longtail.training.task import Batch

WIDTH, TOKENS = 4, 8
Y = csr_array(
    np.array([[1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]], np.float32)
)
HARD = np.array([[1, 5, -1], [0, 2, 3], [-1, -1, -1], [2, 0, -1]], np.int32)
OWN = np.array([3, -1, 0, 1])


def task_of(
    *,
    loss: Loss = "bce",
    lists: np.ndarray | None = HARD,
    own: np.ndarray | None = None,
    tail_weight: float = 0.0,
    shrink: float = 0.0,
    batch_size: int = 4,
    **negatives: Any,
) -> Classify:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    network = Network(WIDTH, ClassifierConfig(gale="none", shrink=shrink), refinement=True, dropout=0.0)
    texts = (csr_array(rng.random((6, TOKENS), np.float32)),)
    return Classify(
        network,
        RowTable(rng.standard_normal((TOKENS, WIDTH), np.float32)),
        RowTable(rng.standard_normal((6, WIDTH), np.float32)),
        csr_array(rng.random((4, TOKENS), np.float32)),
        Targets(Y, texts, own=own, hard=lists),
        loss,
        NegativesConfig(**{"corrected": False, "random": 0, **negatives}),
        tail_weight,
        batch_size,
    )


def batch_of(*rows: int, seed: int = 0) -> Batch:
    return Batch(np.array(rows), seed, 0, 0)


def groups(task: Classify, batch: Batch) -> tuple[list[int], np.ndarray, np.ndarray]:
    """The columns in play, and which are right and wrong."""
    question = task.loss_function.draw(batch, torch.device("cpu"))
    return question.columns.tolist(), question.positive.numpy(), question.negative.numpy()


def scores_of(task: Classify, batch: Batch, columns: list[int]) -> torch.Tensor:
    """Products of documents and classifiers, the long way round."""
    network, targets = task.network, task.targets
    documents = network.documents(task.X[batch.rows], task.tokens.weight)
    assert task.refinement is not None
    trust = network.trust(targets.counts)
    classifiers, _ = network.classifiers(targets.texts, task.tokens.weight, task.refinement.weight * trust)
    return (documents @ classifiers.T)[:, columns] + network.bias


@pytest.mark.parametrize(("name", "loss"), [("bce", bce), ("grank", grank), ("softmax", softmax)])
@pytest.mark.parametrize("more", [{}, {"tail_weight": 0.7}, {"shrink": 3.0}, {"corrected": True}], ids=str)
def test_the_loss_is_the_mean_over_the_documents(name: Loss, loss: Any, more: dict[str, Any]) -> None:
    task = task_of(loss=name, own=OWN, **more)
    task.network.eval()
    batch = batch_of(0, 1, 3)
    columns, positive, negative = groups(task, batch)
    scores = scores_of(task, batch, columns)
    if task.loss_function.offset is not None:
        whom = torch.ones(negative.shape) if name == "bce" else torch.from_numpy(negative)
        scores = scores + whom * task.loss_function.offset[columns]
    counts = torch.tensor([1.0, 1, 1, 0, 2, 0])[columns]
    weight = -0.7 * counts.clamp(min=1).log() if "tail_weight" in more else None
    expected = loss(scores, torch.from_numpy(positive), torch.from_numpy(negative), weight).mean()
    torch.testing.assert_close(task.loss(batch), expected)


def test_the_loss_has_a_gradient_for_every_weight() -> None:
    task = task_of()
    torch.autograd.backward(task.loss(batch_of(0, 1)))
    for table in task.tables().values():
        found = table.gradient()
        assert found is not None
        assert (found[1] != 0).any()
    assert all(parameter.grad is not None for parameter in task.network.parameters())


def test_cross_entropy_starts_at_the_odds_of_a_label_and_learns_them() -> None:
    bias = task_of(loss="bce").network.bias
    yes = task_of().targets.Y.nnz
    assert bias.item() == pytest.approx(np.log(yes / (task_of().targets.Y.shape[0] * 6 - yes)))
    assert bias.requires_grad


def test_ranking_losses_leave_the_bias_alone() -> None:
    for loss in ("grank", "softmax"):
        bias = task_of(loss=loss).network.bias
        assert bias.item() == 0
        assert not bias.requires_grad
