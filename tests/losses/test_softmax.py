"""Softmax over a document's negatives, for each of its positives by itself."""

from __future__ import annotations

import torch

from longtail.losses.softmax import softmax
from tests.losses.groups import draw


def each_positive(scores: torch.Tensor, wrong: torch.Tensor, positive: int) -> torch.Tensor:
    """Minus the logarithm of a positive's share among itself and the negatives."""
    against = scores[wrong].exp().sum()
    own = scores[positive].exp()
    return -(own / (own + against)).log()


def test_it_is_the_mean_over_the_positives() -> None:
    scores, right, wrong = draw()
    expected = [
        torch.stack([each_positive(row, no, int(p)) for p in yes.nonzero()[:, 0]]).mean()
        for row, yes, no in zip(scores, right, wrong, strict=True)
    ]
    torch.testing.assert_close(softmax(scores, right, wrong), torch.stack(expected))


def test_one_positive_against_all_others_is_cross_entropy() -> None:
    scores, _, _ = draw(seed=1)
    targets = torch.tensor([0, 3, 2, 6, 1])
    right = torch.nn.functional.one_hot(targets, scores.shape[1]).bool()
    expected = torch.nn.functional.cross_entropy(scores, targets, reduction="none")
    torch.testing.assert_close(softmax(scores, right, ~right), expected)


def test_weights_multiply_a_positive_and_leave_the_number_of_positives() -> None:
    scores, right, wrong = draw(seed=2)
    weight = torch.linspace(0.5, 3, scores.shape[1], dtype=torch.float64)
    expected = [
        torch.stack([weight[p] * each_positive(row, no, int(p)) for p in yes.nonzero()[:, 0]]).sum()
        / yes.sum()
        for row, yes, no in zip(scores, right, wrong, strict=True)
    ]
    torch.testing.assert_close(softmax(scores, right, wrong, weight.log()), torch.stack(expected))


def test_the_gradient_is_that_of_small_steps() -> None:
    scores, right, wrong = draw(seed=3)
    weight = torch.linspace(-1, 1, scores.shape[1], dtype=torch.float64)
    scores.requires_grad_()
    assert torch.autograd.gradcheck(lambda x: softmax(x, right, wrong, weight), (scores,))


def test_without_positives_or_without_negatives_there_is_nothing_to_learn() -> None:
    scores = torch.tensor([[1e4, -1e4, 0.5]] * 3, requires_grad=True)
    right = torch.tensor([[True, True, True], [False, False, False], [False, False, False]])
    wrong = torch.tensor([[False, False, False], [True, True, True], [False, False, False]])
    loss = softmax(scores, right, wrong)
    assert loss.tolist() == [0, 0, 0]
    (gradient,) = torch.autograd.grad(loss.sum(), scores)
    assert (gradient == 0).all()
