"""GRank is Eq. 4 of X-GRank, with the gradients of Eq. 6, whatever the size of the scores."""

from __future__ import annotations

import pytest
import torch

from longtail.losses.grank import grank
from tests.losses.groups import draw


def product_of_sums(scores: torch.Tensor, right: torch.Tensor, wrong: torch.Tensor) -> torch.Tensor:
    """s of Eq. 6, each document by itself."""
    rows = zip(scores, right, wrong, strict=True)
    return torch.stack([row[no].exp().sum() * (-row[yes]).exp().sum() for row, yes, no in rows])


def test_it_is_equation_4() -> None:
    scores, right, wrong = draw()
    expected = (1 + product_of_sums(scores, right, wrong)).log()
    torch.testing.assert_close(grank(scores, right, wrong), expected, rtol=1e-12, atol=0)


def test_it_is_the_sum_over_all_pairs() -> None:
    scores, right, wrong = draw(seed=1)
    pairs = [
        sum(float((row[n] - row[p]).exp()) for p in yes.nonzero()[:, 0] for n in no.nonzero()[:, 0])
        for row, yes, no in zip(scores, right, wrong, strict=True)
    ]
    expected = torch.log1p(torch.tensor(pairs, dtype=torch.float64))
    torch.testing.assert_close(grank(scores, right, wrong), expected, rtol=1e-12, atol=0)


def test_the_gradients_of_both_groups_sum_to_equation_6() -> None:
    scores, right, wrong = draw(seed=2)
    scores.requires_grad_()
    (gradient,) = torch.autograd.grad(grank(scores, right, wrong).sum(), scores)
    s = product_of_sums(scores.detach(), right, wrong)
    torch.testing.assert_close((gradient * wrong).sum(dim=1), s / (1 + s))
    torch.testing.assert_close((gradient * right).sum(dim=1), -s / (1 + s))
    assert (gradient[~right & ~wrong] == 0).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_the_gradient_is_that_of_small_steps(weighted: bool) -> None:
    scores, right, wrong = draw(seed=3)
    weight = torch.linspace(-1, 1, scores.shape[1], dtype=torch.float64) if weighted else None
    scores.requires_grad_()
    assert torch.autograd.gradcheck(lambda x: grank(x, right, wrong, weight), (scores,))


def test_a_weight_counts_a_positive_several_times() -> None:
    scores = torch.tensor([[0.3, -0.2, 0.9]], dtype=torch.float64)
    right, wrong = torch.tensor([[True, True, False]]), torch.tensor([[False, False, True]])
    weight = torch.tensor([3.0, 1.0, 7.0], dtype=torch.float64).log()
    sums = scores[0, 2].exp() * (3 * (-scores[0, 0]).exp() + (-scores[0, 1]).exp())
    torch.testing.assert_close(grank(scores, right, wrong, weight)[0], torch.log1p(sums))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_large_scores_neither_overflow_nor_lose_their_gradient(dtype: torch.dtype) -> None:
    scores = torch.tensor([[-1e4, 1e4], [1e4, -1e4]], dtype=dtype, requires_grad=True)
    right, wrong = torch.tensor([[True, False]] * 2), torch.tensor([[False, True]] * 2)
    loss = grank(scores, right, wrong)
    assert loss.tolist() == [2e4, 0]
    (gradient,) = torch.autograd.grad(loss.sum(), scores)
    assert gradient.tolist() == [[-1, 1], [0, 0]]


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_without_positives_or_without_negatives_there_is_nothing_to_learn(scale: float) -> None:
    scores = (torch.tensor([[1.0, -1.0, 0.5]] * 3) * scale).requires_grad_()
    right = torch.tensor([[True, True, True], [False, False, False], [False, False, False]])
    wrong = torch.tensor([[False, False, False], [True, True, True], [False, False, False]])
    loss = grank(scores, right, wrong)
    assert loss.tolist() == [0, 0, 0]
    (gradient,) = torch.autograd.grad(loss.sum(), scores)
    assert (gradient == 0).all()
