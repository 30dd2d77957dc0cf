"""Products of float32 matrices by oneDNN: linear layers of a transformer that only reads, and all of a training.

torch gives such products to MKL, which uses the wide instructions of Intel's processors alone. oneDNN is part of
torch as well and uses those of all: on a processor of AMD with AVX-512 a product takes half of the time
(``benchmarks.encoder_speed`` compares). Both compute in float32; sums are added up in another order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch.overrides import TorchFunctionMode


def products() -> AbstractContextManager[object]:
    """What an encoder computes its layers in: oneDNN where torch has it and nothing is learned."""
    # The operator has no gradient, and no graph of another runtime has it.
    wanted = not torch.is_grad_enabled() and not torch.compiler.is_exporting()
    return OnednnProducts() if there() and wanted else nullcontext()


def there() -> bool:
    """Whether this build of torch has the operator."""
    onednn: Any = torch.backends.mkldnn
    return bool(onednn.is_available()) and hasattr(torch.ops.mkldnn, "_linear_pointwise")


@contextmanager
def preferred(wanted: bool = True) -> Iterator[None]:
    """Inside, oneDNN computes all matrix products of float32 on a processor, with gradients; not wanted: MKL does.

    It is not for attention: oneDNN takes 20 times as long for the gradients of many small products.
    """
    onednn: Any = torch.backends.mkldnn
    setting = onednn.matmul
    before = setting.fp32_precision
    if there() and not torch.cpu.get_capabilities().get("amx_bf16"):
        # Allowing bfloat16 is how torch is told to use oneDNN, which rounds only where there are tiles (AMX).
        setting.fp32_precision = "bf16" if wanted else "ieee"
    try:
        yield
    finally:
        setting.fp32_precision = before


class OnednnProducts(TorchFunctionMode):
    """Inside, oneDNN computes every linear layer of float32 on a processor."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Any function of torch; a linear layer is replaced."""
        if func is torch.nn.functional.linear and _fits(args[0]):
            return linear(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))


def linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """A linear layer over the last dimension.

    Shapes:
        x [..., k], weight [m, k], bias [m] -> [..., m]
    """
    y: torch.Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    return y


def _fits(x: torch.Tensor) -> bool:
    return x.device.type == "cpu" and x.dtype == torch.float32 and x.numel() > 0
