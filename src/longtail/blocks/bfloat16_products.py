"""Linear layers of a transformer with bfloat16 products on a processor that has instructions for them.

    y = round16(x) round16(W)^T + b,   and the same for both gradients

Weights, biases, attention and everything else stay in float32. Products are nearly all of the work of an encoder,
and such a processor computes them twice as fast. torch's own autocast would round attention as well, of which the
gradient is five times slower in bfloat16 than in float32 on a processor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from longtail.blocks import onednn_products


def native() -> bool:
    """Whether this processor multiplies matrices of bfloat16 by instructions of its own."""
    found: Mapping[str, Any] = torch.cpu.get_capabilities()
    return bool(found.get("avx512_bf16") or found.get("amx_bf16"))


_allowed: ContextVar[bool] = ContextVar("bfloat16 products are allowed", default=False)


@contextmanager
def allowed() -> Iterator[None]:
    """Inside, encoders compute their products in bfloat16."""
    token = _allowed.set(True)
    try:
        yield
    finally:
        _allowed.reset(token)


def products() -> AbstractContextManager[object]:
    """What an encoder computes its layers in: bfloat16 products where they are allowed."""
    return Bfloat16Products() if _allowed.get() else onednn_products.products()


class Bfloat16Products(TorchFunctionMode):
    """Inside, every linear layer computes its products in bfloat16."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Any function of torch; a linear layer is replaced."""
        if func is torch.nn.functional.linear:
            return linear(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))


def linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """A linear layer over the last dimension, float32 in and out.

    Shapes:
        x [..., k], weight [m, k], bias [m] -> [..., m]
    """
    product: Callable[..., torch.Tensor] = _Product.apply
    y = product(x.reshape(-1, x.shape[-1]), weight)
    return (y if bias is None else y + bias).reshape(*x.shape[:-1], len(weight))


class _Product(torch.autograd.Function):
    """x W^T [n, m]."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        x, weight = x.bfloat16(), weight.bfloat16()
        ctx.save_for_backward(x, weight)
        return (x @ weight.T).float()

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        x, weight = ctx.saved_tensors
        gradient = gradients[0].bfloat16()
        of_x = (gradient @ weight).float() if ctx.needs_input_grad[0] else None
        of_weight = (gradient.T @ x).float() if ctx.needs_input_grad[1] else None
        return of_x, of_weight
