"""A plain layer of a graph convolution network (Kipf and Welling, ICLR 2017), after the neighbours are summed."""

from __future__ import annotations

import torch
from torch import nn

from longtail.blocks.dropout import Dropout


class Gcn(nn.Module):
    """relu(dropout(x) W): no residual, no spectral norm.

    Shapes:
        x [n, D] -> [n, D]
    """

    def __init__(self, width: int, dropout: float = 0.2) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width, bias=False)
        nn.init.xavier_uniform_(self.linear.weight)
        self.dropout = Dropout(dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Transform rows."""
        return torch.relu(self.linear(self.dropout(x)))
