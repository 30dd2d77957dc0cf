"""The sum over all but some products is that of logsumexp, with its gradient."""

from __future__ import annotations

import pytest
import torch

from longtail.losses.log_sum_of_products import log_sum_of_products
from longtail.losses.masked_logsumexp import FAR


def drawn(seed: int, scale: float = 1.0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x = scale * torch.randn(5, 4, generator=generator, dtype=torch.float64)
    others = torch.randn(9, 4, generator=generator, dtype=torch.float64)
    out = torch.rand(5, 9, generator=generator) < 0.4
    out[:, 0] = False
    return x, others, out


@pytest.mark.parametrize("scale", [1.0, 100.0, 1e4])
def test_it_is_logsumexp_of_what_is_left(scale: float) -> None:
    x, others, out = drawn(0, scale)
    expected = torch.logsumexp((x @ others.T).masked_fill(out, -torch.inf), dim=1)
    torch.testing.assert_close(log_sum_of_products(x, others, *out.nonzero(as_tuple=True)), expected)


def test_the_gradient_is_that_of_small_steps() -> None:
    x, others, out = drawn(1)
    x.requires_grad_()
    left_out = out.nonzero(as_tuple=True)
    assert torch.autograd.gradcheck(lambda values: log_sum_of_products(values, others, *left_out), (x,))


def test_a_row_of_which_nothing_is_left_is_far_below_and_has_no_gradient() -> None:
    x = torch.tensor([[1.0], [1.0]], requires_grad=True)
    left_out = torch.tensor([0, 0, 1]), torch.tensor([0, 1, 0])
    found = log_sum_of_products(x, torch.tensor([[1.0], [2.0]]), *left_out)
    assert found.tolist() == [FAR, 2.0]
    (gradient,) = torch.autograd.grad(found.sum(), x)
    assert gradient.tolist() == [[0], [2]]
