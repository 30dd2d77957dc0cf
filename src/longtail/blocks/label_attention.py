"""The attention block of ECLARE (Fig. 2, right): fuses several vectors of a label into its classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import nn
from torch.nn.utils import parametrizations

from longtail.blocks.dropout import Dropout


class LabelAttention(nn.Module):
    """w = sum_i alpha_i z_i with alpha = softmax(A [t(z_1); ...]), t(z) = sigmoid(T relu(z)) (Sec. 3.3).

    Shapes:
        parts: one [n, D] tensor a representation -> w [n, D], alpha [n, parts]
    """

    def __init__(self, width: int, parts: int, dropout: float = 0.2) -> None:
        super().__init__()
        self.transform = parametrizations.spectral_norm(nn.Linear(width, width, bias=False))
        self.weigh = nn.Linear(parts * width, parts, bias=False)
        self.dropout = Dropout(dropout)

    def forward(self, parts: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        """The combined vectors and the weights of their parts."""
        queries = [torch.sigmoid(self.transform(self.dropout(torch.relu(part)))) for part in parts]
        alpha = torch.softmax(self.weigh(torch.cat(queries, dim=1)), dim=1)
        combined = sum((alpha[:, i : i + 1] * part for i, part in enumerate(parts)), torch.zeros(()))
        return combined, alpha

    @torch.no_grad()
    def exported_transform(self) -> torch.Tensor:
        """T with its spectral norm divided out [D, D]."""
        return cast(torch.Tensor, self.transform.weight).clone()
