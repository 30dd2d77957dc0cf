"""The embedding block of ECLARE (Fig. 2, left): a light residual layer on a bag of token embeddings."""

from __future__ import annotations

from typing import cast

import torch
from torch import nn
from torch.nn.utils import parametrizations

from longtail.blocks.dropout import Dropout


class EmbeddingBlock(nn.Module):
    """x + lambda * R dropout(relu(x)): R starts as the identity and keeps spectral norm 1, lambda is learned.

    Shapes:
        x [n, D] -> [n, D]
    """

    def __init__(self, width: int, dropout: float = 0.2) -> None:
        super().__init__()
        self.width = width
        linear = nn.Linear(width, width, bias=False)
        with torch.no_grad():
            linear.weight.copy_(torch.eye(width))
        self.linear = parametrizations.spectral_norm(linear)
        self.scale = nn.Parameter(torch.ones(1))
        self.dropout = Dropout(dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Embed rows."""
        hidden: torch.Tensor = self.linear(self.dropout(torch.relu(x)))
        return x + self.scale * hidden

    @torch.no_grad()
    def exported(self) -> torch.Tensor:
        """lambda * R as one matrix [D, D]: in prediction the block is x + exported relu(x)."""
        return self.scale * cast(torch.Tensor, self.linear.weight)
