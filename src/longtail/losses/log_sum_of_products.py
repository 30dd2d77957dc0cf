"""The logarithm of a sum of exponentials of inner products with many fixed vectors, all but a few of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from longtail.losses.masked_logsumexp import FAR, LEAST


class _LogSumOfProducts(torch.autograd.Function):
    """One table of products: it becomes the softmax in place, and the gradient is a product with it."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, others: torch.Tensor, row: torch.Tensor, column: torch.Tensor
    ) -> torch.Tensor:
        shares = x @ others.T
        shares[row, column] = FAR
        top = shares.amax(dim=1, keepdim=True)
        shares.sub_(top).clamp_(min=LEAST).exp_()
        shares[row, column] = 0
        total = shares.sum(dim=1, keepdim=True)
        there = total > 0
        ctx.save_for_backward(shares, others, torch.where(there, total, 1))
        return torch.where(there, top + total.log(), FAR).squeeze(1)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None, None, None]:
        shares, others, total = ctx.saved_tensors
        return (shares @ others) * (gradients[0][:, None] / total), None, None, None


def log_sum_of_products(
    x: torch.Tensor, others: torch.Tensor, row: torch.Tensor, column: torch.Tensor
) -> torch.Tensor:
    """log sum_j exp(<x_i, o_j>) over all j but the left out ones; ``FAR`` where none is left.

    The others get no gradient: they are vectors that were computed before.

    Args:
        row: together with ``column`` the pairs (i, j) that are left out.

    Shapes:
        x [n, D], others [m, D], row, column int64 [p] -> [n]
    """
    apply: Callable[..., torch.Tensor] = _LogSumOfProducts.apply
    return apply(x, others, row, column)
