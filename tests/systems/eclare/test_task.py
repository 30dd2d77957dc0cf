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
    rows = task.targets.Y[batch.rows]
    hard = task._hard_negatives(batch)
    columns = task._columns(rows, hard, batch)
    positive, negative = task._groups(rows, hard, columns, batch.rows)
    return columns.tolist(), positive.numpy(), negative.numpy()


def test_every_label_in_play_is_right_or_wrong() -> None:
    columns, positive, negative = groups(task_of(), batch_of(0, 1))
    assert columns == [0, 1, 2, 3, 4, 5]
    assert positive.tolist() == [[1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 1, 0]]
    assert (negative == ~positive).all()


def test_only_what_documents_have_or_draw_is_in_play() -> None:
    columns, positive, _ = groups(task_of(lists=None), batch_of(3, 1))
    assert columns == [1, 2, 4]
    assert positive.tolist() == [[0, 1, 0], [1, 0, 1]]
    assert groups(task_of(lists=None, random=6), batch_of(3))[0] == [0, 1, 2, 3, 4, 5]
    some = [tuple(groups(task_of(lists=None, random=2), batch_of(2, seed=seed))[0]) for seed in range(20)]
    assert all(1 <= len(columns) <= 2 for columns in some)
    assert {label for columns in some for label in columns} == set(range(6))


def test_own_negatives_are_for_their_own_document() -> None:
    columns, positive, negative = groups(task_of(scope="own"), batch_of(0, 1, 3))
    wrong = [{columns[j] for j in np.flatnonzero(row)} for row in negative]
    # Label 2 is in the last document's list by mistake: what is right is never wrong.
    assert wrong == [{1, 5}, {0, 2, 3}, {0}]
    assert not (positive & negative).any()


def test_the_label_that_is_the_document_is_never_wrong() -> None:
    columns, positive, negative = groups(task_of(own=OWN), batch_of(0, 1, 2, 3))
    neither = [{columns[j] for j in np.flatnonzero(row)} for row in ~positive & ~negative]
    assert neither == [{3}, set(), {0}, {1}]
    # Nor where it is not in play at all.
    columns, positive, negative = groups(task_of(own=OWN, lists=None), batch_of(0))
    assert columns == [0, 4]
    assert positive.all()


def test_a_step_draws_some_of_the_hard_negatives() -> None:
    task = task_of(hard=2)
    drawn = [task._hard_negatives(batch_of(1, seed=seed)) for seed in range(20)]
    assert all(found is not None and found.shape == (1, 2) for found in drawn)
    assert {int(label) for found in drawn if found is not None for label in found[0]} == {0, 2, 3}
    assert task_of(hard=0)._hard_negatives(batch_of(1)) is None


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
    if task.offset is not None:
        whom = torch.ones(negative.shape) if name == "bce" else torch.from_numpy(negative)
        scores = scores + whom * task.offset[columns]
    counts = torch.tensor([1.0, 1, 1, 0, 2, 0])[columns]
    weight = -0.7 * counts.clamp(min=1).log() if "tail_weight" in more else None
    expected = loss(scores, torch.from_numpy(positive), torch.from_numpy(negative), weight).mean()
    torch.testing.assert_close(task.loss(batch), expected)


def test_frequent_positives_count_less_with_a_tail_weight() -> None:
    task = task_of(tail_weight=0.5)
    assert task.log_weight is not None
    counts = task.targets.counts
    np.testing.assert_allclose(task.log_weight.exp(), np.maximum(counts, 1) ** -0.5, rtol=1e-6)
    assert task_of().log_weight is None


def test_the_loss_has_a_gradient_for_every_weight() -> None:
    task = task_of()
    torch.autograd.backward(task.loss(batch_of(0, 1)))
    for table in task.tables().values():
        found = table.gradient()
        assert found is not None
        assert (found[1] != 0).any()
    assert all(parameter.grad is not None for parameter in task.network.parameters())


def test_the_correction_makes_up_for_batches_without_a_label() -> None:
    """What a sampled negative counts is, on average over batches, what it would count if it were in all."""
    n_documents, width, batch, random = 40, 12, 5, 3
    rng = np.random.default_rng(0)
    Y = csr_array((rng.random((n_documents, width)) < np.linspace(0, 0.3, width)).astype(np.float32))
    torch.manual_seed(0)
    network = Network(WIDTH, ClassifierConfig(gale="none", refinement=False), refinement=False, dropout=0.0)
    task = Classify(
        network,
        RowTable(np.zeros((TOKENS, WIDTH), np.float32)),
        None,
        csr_array((n_documents, TOKENS), dtype=np.float32),
        Targets(Y, (csr_array((width, TOKENS), dtype=np.float32),)),
        "softmax",
        NegativesConfig(corrected=True, random=random),
        batch_size=batch,
    )
    assert task.offset is not None
    rounds, seen = 4000, np.zeros(width)
    for number in range(rounds):
        rows = rng.choice(n_documents, batch, replace=False)
        seen[task._columns(Y[rows], None, batch_of(*rows, seed=number))] += 1
    np.testing.assert_allclose(np.exp(-task.offset.numpy()), seen / rounds, atol=0.05)


def test_labels_that_are_in_every_batch_need_no_correction() -> None:
    for random in (6, 7, 100):
        offset = task_of(loss="grank", corrected=True, random=random).offset
        assert offset is not None
        np.testing.assert_allclose(offset, 0, atol=1e-6)


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
