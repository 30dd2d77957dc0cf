"""Graph isomorphism network over many small graphs at once (Xu et al., ICLR 2019; Eq. 4 and 5 of GNN-XML).

The graphs of a batch are packed: their vertices lie side by side as rows of one matrix, their edges in one sparse
matrix with a block for each graph. A layer is then a sparse product and two dense ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from scipy.sparse import csr_array
from torch import nn

from longtail.blocks.sparse_product import sparse_product

EPSILON = 1e-5
"""What a variance is raised by, so that a column of equal numbers can be divided by it."""


class _Standardise(torch.autograd.Function):
    """Columns of mean 0 and variance 1, with a gradient in few passes over the rows."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        mean = x.mean(dim=0)
        centred = x - mean
        variance = centred.square().mean(dim=0)
        scale = torch.rsqrt(variance + EPSILON)
        normalised = centred.mul_(scale)
        ctx.save_for_backward(normalised, scale)
        ctx.mark_non_differentiable(mean, variance)
        return normalised, mean, variance

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
        normalised, scale = ctx.saved_tensors
        gradient = gradients[0]
        along = (gradient * normalised).mean(dim=0)
        # What moves the mean or the variance alone is taken out of the gradient.
        rest: torch.Tensor = torch.addcmul(gradient - gradient.mean(dim=0), normalised, along, value=-1)
        return rest.mul_(scale)


def _standardised(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    apply: Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = _Standardise.apply
    return apply(x)


class RowNorm(nn.Module):
    """Batch normalisation out of plain sums: torch's own adds in an order that depends on the number of threads.

    A batch of a single row is taken too, by what was seen before.

    Shapes:
        x [rows, width] -> [rows, width]
    """

    MOMENTUM = 0.1

    running_mean: torch.Tensor
    running_var: torch.Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))
        self.register_buffer("running_mean", torch.zeros(width))
        self.register_buffer("running_var", torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Columns of mean 0 and variance 1, scaled and shifted."""
        if not self.training or len(x) < 2:
            factor, shift = self.exported()
            return x * factor + shift
        normalised, mean, variance = _standardised(x)
        with torch.no_grad():
            self.running_mean.lerp_(mean.to(self.running_mean.dtype), self.MOMENTUM)
            unbiased = variance * (len(x) / (len(x) - 1))
            self.running_var.lerp_(unbiased.to(self.running_var.dtype), self.MOMENTUM)
        return torch.addcmul(self.bias, normalised, self.weight)

    def exported(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Factor and shift [width] that it is in prediction."""
        factor = self.weight * torch.rsqrt(self.running_var + EPSILON)
        return factor, self.bias - self.running_mean * factor


class GinLayer(nn.Module):
    """h' = MLP((1 + eps) h + the sum of the neighbours' h), the MLP being twice a product, a BatchNorm and a ReLU.

    Args:
        eps: where the weight of a vertex itself begins.
        learn_eps: whether it changes.

    Shapes:
        h [vertices, width_in], edges [vertices, vertices] sparse -> [vertices, width_out]
    """

    def __init__(self, width_in: int, width_out: int, *, eps: float = 0.0, learn_eps: bool = False) -> None:
        super().__init__()
        self.eps = nn.Parameter(torch.tensor(float(eps)), requires_grad=learn_eps)
        # The bias of a product would go away with the mean that the normalisation takes off.
        self.inner, self.inner_norm = nn.Linear(width_in, width_out, bias=False), RowNorm(width_out)
        self.outer, self.outer_norm = nn.Linear(width_out, width_out, bias=False), RowNorm(width_out)

    def forward(self, h: torch.Tensor, edges: csr_array) -> torch.Tensor:
        """One hop further."""
        mixed = (1 + self.eps) * h + sparse_product(edges, h)
        hidden = torch.relu(self.inner_norm(self.inner(mixed)))
        return torch.relu(self.outer_norm(self.outer(hidden)))

    @torch.no_grad()
    def exported(self) -> dict[str, torch.Tensor]:
        """What it is in prediction: two products with a bias, each with a ReLU behind it."""
        found = {"factor": (1 + self.eps).reshape(1)}
        for name in ("inner", "outer"):
            linear = cast(nn.Linear, getattr(self, name))
            factor, shift = cast(RowNorm, getattr(self, f"{name}_norm")).exported()
            found[name] = linear.weight * factor[:, None]
            found[f"{name}_bias"] = shift
        return found


def readout(
    orders: Sequence[torch.Tensor], membership: csr_array, *, concatenate: bool = True
) -> torch.Tensor:
    """Graphs as the sums of their vertices: of all layers side by side, or of the last one alone.

    Args:
        orders: the vertices after layer 0, 1, .. K, each [vertices, width of the layer].
        membership: which vertices a graph has (ones, or weights) [graphs, vertices].
    """
    if not concatenate:
        return sparse_product(membership, orders[-1])
    return torch.cat([sparse_product(membership, h) for h in orders], dim=1)
