"""The transformations of GalaXC (Fig. 1, right): one light residual layer a hop."""

from __future__ import annotations

from typing import cast

import torch
from torch import nn

from longtail.blocks.dropout import Dropout


class HopTransform(nn.Module):
    """x + dropout(relu(batch norm(R_k x))) for each hop k: the R start as identities.

    Args:
        norm: False leaves the batch normalisation out.

    Shapes:
        x [n, K, D] -> [n, K, D]
    """

    def __init__(self, width: int, hops: int, dropout: float = 0.5, *, norm: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.eye(width).repeat(hops, 1, 1))
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) if norm else nn.Identity() for _ in range(hops))
        self.dropout = Dropout(dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Embeddings of every order, transformed."""
        hidden = torch.stack(
            [
                self._norm(norm, rows @ matrix.T)
                for norm, rows, matrix in zip(self.norms, x.unbind(1), self.weight, strict=True)
            ],
            dim=1,
        )
        return x + cast(torch.Tensor, self.dropout(torch.relu(hidden)))

    def _norm(self, norm: nn.Module, rows: torch.Tensor) -> torch.Tensor:
        """A batch of one has no spread: what other batches had stands in for it."""
        if not isinstance(norm, nn.BatchNorm1d) or not self.training or len(rows) > 1:
            return cast(torch.Tensor, norm(rows))
        return nn.functional.batch_norm(
            rows, norm.running_mean, norm.running_var, norm.weight, norm.bias, False, 0.0, norm.eps
        )

    @torch.no_grad()
    def exported(self) -> tuple[torch.Tensor, torch.Tensor]:
        """M [K, D, D] and b [K, D]: in prediction the block is x + relu(M_k x + b_k)."""
        parts = [self._exported(*hop) for hop in zip(self.weight, self.norms, strict=True)]
        return torch.stack([matrix for matrix, _ in parts]), torch.stack([shift for _, shift in parts])

    def _exported(self, matrix: torch.Tensor, norm: nn.Module) -> tuple[torch.Tensor, torch.Tensor]:
        if not isinstance(norm, nn.BatchNorm1d):
            return matrix, torch.zeros_like(matrix[0])
        assert norm.running_mean is not None
        assert norm.running_var is not None
        scale = norm.weight / (norm.running_var + norm.eps).sqrt()
        return scale[:, None] * matrix, norm.bias - norm.running_mean * scale
