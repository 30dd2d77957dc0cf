"""The logarithm of a sum of exponentials over some of the columns, with one exponential per entry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

FAR = -1e9
"""The result of a row without any column: its exponential is 0."""

LEAST = -80.0
"""Exponents below this one are raised to it. exp(-80) adds nothing to a sum of at least 1, and results that are no
normal float32 numbers take a processor ten times as long."""


class _MaskedLogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        outside = ~mask
        exponents = x.masked_fill(outside, FAR)
        top = exponents.amax(dim=1, keepdim=True)
        shares = exponents.sub_(top).clamp_(min=LEAST).exp_().masked_fill_(outside, 0)
        total = shares.sum(dim=1, keepdim=True)
        there = total > 0
        ctx.save_for_backward(shares.div_(torch.where(there, total, 1)))
        return torch.where(there, top + total.log(), FAR).squeeze(1)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
        (shares,) = ctx.saved_tensors
        return shares * gradients[0][:, None], None


def masked_logsumexp(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """log sum_j exp(x_j) over the columns of ``mask``; ``FAR`` where a row has none.

    The gradient is the softmax, which is kept from the forward pass. Entries outside the mask have gradient 0.

    Shapes:
        x, mask (bool) [n, m] -> [n]
    """
    apply: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = _MaskedLogSumExp.apply
    return apply(x, mask)
