"""Which labels of a batch are right, wrong or neither, and what sampling them shifts."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.systems.common.label_loss import LabelLoss
from longtail.systems.common.settings import Loss
from longtail.training.task import Batch

Y = csr_array(
    np.array([[1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]], np.float32)
)
HARD = np.array([[1, 5, -1], [0, 2, 3], [-1, -1, -1], [2, 0, -1]], np.int32)
OWN = np.array([3, -1, 0, 1])


def loss_of(
    *,
    loss: Loss = "bce",
    lists: np.ndarray | None = HARD,
    own: np.ndarray | None = None,
    hard: int = 10,
    **more: Any,
) -> LabelLoss:
    settings = {"corrected": False, "random": 0, "batch_size": 4, **more}
    return LabelLoss(Y, loss, own=own, hard=lists, few=hard, **settings)


def batch_of(*rows: int, seed: int = 0) -> Batch:
    return Batch(np.array(rows), seed, 0, 0)


def groups(loss: LabelLoss, batch: Batch) -> tuple[list[int], np.ndarray, np.ndarray]:
    """The columns in play, and which are right and wrong."""
    question = loss.draw(batch, torch.device("cpu"))
    return question.columns.tolist(), question.positive.numpy(), question.negative.numpy()


def test_every_label_in_play_is_right_or_wrong() -> None:
    columns, positive, negative = groups(loss_of(), batch_of(0, 1))
    assert columns == [0, 1, 2, 3, 4, 5]
    assert positive.tolist() == [[1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 1, 0]]
    assert (negative == ~positive).all()


def test_only_what_documents_have_or_draw_is_in_play() -> None:
    columns, positive, _ = groups(loss_of(lists=None), batch_of(3, 1))
    assert columns == [1, 2, 4]
    assert positive.tolist() == [[0, 1, 0], [1, 0, 1]]
    assert groups(loss_of(lists=None, random=6), batch_of(3))[0] == [0, 1, 2, 3, 4, 5]
    some = [tuple(groups(loss_of(lists=None, random=2), batch_of(2, seed=seed))[0]) for seed in range(20)]
    assert all(1 <= len(columns) <= 2 for columns in some)
    assert {label for columns in some for label in columns} == set(range(6))


def test_own_negatives_are_for_their_own_document() -> None:
    columns, positive, negative = groups(loss_of(scope="own"), batch_of(0, 1, 3))
    wrong = [{columns[j] for j in np.flatnonzero(row)} for row in negative]
    # Label 2 is in the last document's list by mistake: what is right is never wrong.
    assert wrong == [{1, 5}, {0, 2, 3}, {0}]
    assert not (positive & negative).any()


def test_the_label_that_is_the_document_is_never_wrong() -> None:
    columns, positive, negative = groups(loss_of(own=OWN), batch_of(0, 1, 2, 3))
    neither = [{columns[j] for j in np.flatnonzero(row)} for row in ~positive & ~negative]
    assert neither == [{3}, set(), {0}, {1}]
    # Nor where it is not in play at all.
    columns, positive, negative = groups(loss_of(own=OWN, lists=None), batch_of(0))
    assert columns == [0, 4]
    assert positive.all()


def test_a_step_draws_some_of_the_hard_negatives() -> None:
    loss = loss_of(hard=2)
    drawn = [loss._hard_negatives(batch_of(1, seed=seed)) for seed in range(20)]
    assert all(found is not None and found.shape == (1, 2) for found in drawn)
    assert {int(label) for found in drawn if found is not None for label in found[0]} == {0, 2, 3}
    assert loss_of(hard=0)._hard_negatives(batch_of(1)) is None


def test_frequent_positives_count_less_with_a_tail_weight() -> None:
    loss = loss_of(tail_weight=0.5)
    assert loss.log_weight is not None
    counts = np.bincount(Y.indices, minlength=6)
    np.testing.assert_allclose(loss.log_weight.exp(), np.maximum(counts, 1) ** -0.5, rtol=1e-6)
    assert loss_of().log_weight is None


def test_the_correction_makes_up_for_batches_without_a_label() -> None:
    """What a sampled negative counts is, on average over batches, what it would count if it were in all."""
    n_documents, width, batch, random = 40, 12, 5, 3
    rng = np.random.default_rng(0)
    Y = csr_array((rng.random((n_documents, width)) < np.linspace(0, 0.3, width)).astype(np.float32))
    loss = LabelLoss(Y, "softmax", random=random, corrected=True, batch_size=batch)
    assert loss.offset is not None
    rounds, seen = 4000, np.zeros(width)
    for number in range(rounds):
        rows = rng.choice(n_documents, batch, replace=False)
        seen[loss._columns(Y[rows], None, batch_of(*rows, seed=number))] += 1
    np.testing.assert_allclose(np.exp(-loss.offset.numpy()), seen / rounds, atol=0.05)


def test_labels_that_are_in_every_batch_need_no_correction() -> None:
    for random in (6, 7, 100):
        offset = loss_of(loss="grank", corrected=True, random=random).offset
        assert offset is not None
        np.testing.assert_allclose(offset, 0, atol=1e-6)


# --- labels that a document is not asked for ------------------------------------------------------------------


def unasked_of(loss: LabelLoss, rows: list[list[int]]) -> LabelLoss:
    marks = np.zeros(Y.shape, bool)
    for row, labels in enumerate(rows):
        marks[row, labels] = True
    loss.unasked = csr_array(marks)
    return loss


def test_what_is_not_asked_for_is_neither_right_nor_wrong() -> None:
    loss = unasked_of(loss_of(), [[4], [], [5], [0, 2]])
    for rows in ((0, 1, 2, 3), (3, 0)):
        columns, positive, negative = groups(loss, batch_of(*rows))
        neither = [{columns[j] for j in np.flatnonzero(row)} for row in ~positive & ~negative]
        assert neither == [[{4}, set(), {5}, {0, 2}][row] for row in rows]
        expected = Y.toarray()[np.ix_(rows, columns)] > 0
        assert (positive == expected & ~(~positive & ~negative)).all()


def test_what_is_not_asked_for_stays_in_play_for_others() -> None:
    # Label 4 is an answer of both documents, and the first knows it already.
    columns, positive, _ = groups(unasked_of(loss_of(lists=None), [[4], [], [], []]), batch_of(0, 1))
    assert columns == [0, 1, 4]
    assert positive.tolist() == [[1, 0, 0], [0, 1, 1]]
    # Nothing happens to labels that are not in play.
    columns, positive, negative = groups(
        unasked_of(loss_of(lists=None), [[2, 3], [], [], []]), batch_of(0, 1)
    )
    assert columns == [0, 1, 4]
    assert (positive | negative).all()


def test_own_labels_and_those_not_asked_for_go_together() -> None:
    loss = unasked_of(loss_of(own=OWN, scope="own"), [[0], [], [], []])
    columns, positive, negative = groups(loss, batch_of(0))
    assert {columns[j] for j in np.flatnonzero(positive[0])} == {4}
    assert {columns[j] for j in np.flatnonzero(negative[0])} == {1, 5}


def test_what_is_not_asked_for_does_not_move_the_loss() -> None:
    kinds: tuple[Loss, ...] = ("bce", "grank", "softmax")
    for kind in kinds:
        loss = unasked_of(loss_of(loss=kind, corrected=True, random=6), [[0, 4], [4], [], []])
        question = loss.draw(batch_of(0, 1, 2, 3), torch.device("cpu"))
        scores = torch.randn((4, 6), generator=torch.Generator().manual_seed(0), requires_grad=True)
        value = loss(scores, question)
        value.backward()
        assert torch.isfinite(value)
        assert scores.grad is not None
        assert torch.isfinite(scores.grad).all()
        # Scores of labels that a document is not asked for are of no account, and a document may be left with none.
        assert scores.grad[0, [0, 4]].tolist() == [0, 0]
        assert scores.grad[1, 4] == 0
        assert (scores.grad[3] != 0).any()
