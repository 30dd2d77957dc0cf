"""Binary cross entropy over the labels in question."""

from __future__ import annotations

import torch

from longtail.losses.bce import bce
from tests.losses.groups import draw


def test_it_is_the_sum_of_the_logarithms_of_what_was_not_believed() -> None:
    scores, right, wrong = draw()
    believed = 1 / (1 + (-scores).exp())
    zero = torch.zeros_like(scores)
    expected = torch.where(right, -believed.log(), zero) + torch.where(wrong, -(1 - believed).log(), zero)
    torch.testing.assert_close(bce(scores, right, wrong), expected.sum(dim=1))


def test_it_is_what_torch_computes_where_every_label_is_in_question() -> None:
    scores, right, _ = draw(seed=1)
    expected = torch.nn.functional.binary_cross_entropy_with_logits(
        scores, right.to(scores.dtype), reduction="none"
    ).sum(dim=1)
    torch.testing.assert_close(bce(scores, right, ~right), expected)


def test_weights_are_those_of_positives_alone() -> None:
    scores, right, wrong = draw(seed=2)
    weight = torch.linspace(0.5, 3, scores.shape[1], dtype=torch.float64)
    nobody = torch.zeros_like(right)
    expected = (torch.nn.functional.softplus(-scores) * right * weight).sum(dim=1) + bce(
        scores, nobody, wrong
    )
    torch.testing.assert_close(bce(scores, right, wrong, weight.log()), expected)


def test_the_gradient_is_that_of_small_steps() -> None:
    scores, right, wrong = draw(seed=3)
    weight = torch.linspace(-1, 1, scores.shape[1], dtype=torch.float64)
    scores.requires_grad_()
    assert torch.autograd.gradcheck(lambda x: bce(x, right, wrong, weight), (scores,))


def test_large_scores_are_no_obstacle() -> None:
    scores = torch.tensor([[-1e4, 1e4], [1e4, -1e4]], requires_grad=True)
    right, wrong = torch.tensor([[True, False]] * 2), torch.tensor([[False, True]] * 2)
    loss = bce(scores, right, wrong)
    assert loss.tolist() == [2e4, 0]
    (gradient,) = torch.autograd.grad(loss.sum(), scores)
    assert gradient.tolist() == [[-1, 1], [0, 0]]
