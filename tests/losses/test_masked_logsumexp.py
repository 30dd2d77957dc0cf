"""The sum over a mask is that of logsumexp, with its gradient, for any size of numbers."""

from __future__ import annotations

import pytest
import torch

from longtail.losses.masked_logsumexp import FAR, masked_logsumexp


def drawn(seed: int, scale: float = 3.0) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x = scale * torch.randn(7, 11, generator=generator, dtype=torch.float64)
    mask = torch.rand(7, 11, generator=generator) < 0.5
    mask[:, 0] = True
    return x, mask


@pytest.mark.parametrize("scale", [1.0, 100.0, 1e4])
def test_it_is_logsumexp_over_the_mask(scale: float) -> None:
    x, mask = drawn(0, scale)
    expected = torch.logsumexp(x.masked_fill(~mask, -torch.inf), dim=1)
    torch.testing.assert_close(masked_logsumexp(x, mask), expected)


def test_the_gradient_is_that_of_small_steps_and_0_outside() -> None:
    x, mask = drawn(1)
    x.requires_grad_()
    assert torch.autograd.gradcheck(lambda values: masked_logsumexp(values, mask), (x,))
    (gradient,) = torch.autograd.grad(masked_logsumexp(x, mask).sum(), x)
    assert (gradient[~mask] == 0).all()
    torch.testing.assert_close(gradient.sum(dim=1), torch.ones(7, dtype=torch.float64))


def test_a_row_without_columns_is_far_below_and_has_no_gradient() -> None:
    x = torch.tensor([[1.0, 2.0], [1.0, 2.0]], requires_grad=True)
    found = masked_logsumexp(x, torch.tensor([[False, False], [True, False]]))
    assert found.tolist() == [FAR, 1.0]
    (gradient,) = torch.autograd.grad(found.sum(), x)
    assert gradient.tolist() == [[0, 0], [1, 0]]


def test_the_argument_stays_as_it_is() -> None:
    x, mask = drawn(2)
    before = x.clone()
    masked_logsumexp(x, mask)
    assert torch.equal(x, before)
