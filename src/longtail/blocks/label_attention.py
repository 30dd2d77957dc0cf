"""The attention block of ECLARE (Fig. 2, right): fuses several vectors of a label into its classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import nn
from torch.nn.utils import parametrizations

from longtail.blocks.dropout import Dropout

MOMENTUM = 0.05
"""Share of a batch in the running mean over labels."""


class LabelAttention(nn.Module):
    """w = k sum_i alpha_i z_i with alpha = softmax(A (q - mean q) + b), q = [t(z_1); ...; t(z_k)] (Sec. 3.3).

    t(z) = sigmoid(T relu(z)). T has spectral norm 1, so that sigmoids are all near 1/2: what labels differ in is
    small beside what they share, and each step of Adam would move the logits of all labels alike, by far, until a
    part has no weight. Hence queries are centred by their mean over labels, and what labels share is a bias for
    each part. Even weights are the sum of the parts, so that scores have the size that they have without attention:
    k is the number of parts.

    Shapes:
        parts: one [n, D] tensor a representation -> w [n, D], alpha [n, parts]
    """

    mean: torch.Tensor

    def __init__(self, width: int, parts: int, dropout: float = 0.2) -> None:
        super().__init__()
        self.transform = parametrizations.spectral_norm(nn.Linear(width, width, bias=False))
        self.weigh = nn.Linear(parts * width, parts, bias=False)
        self.bias = nn.Parameter(torch.zeros(parts))
        self.dropout = Dropout(dropout)
        self.register_buffer("mean", torch.full((parts * width,), 0.5))

    def forward(self, parts: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        """The combined vectors and the weights of their parts."""
        queries = torch.cat(
            [torch.sigmoid(self.transform(self.dropout(torch.relu(part)))) for part in parts], dim=1
        )
        mean = self.mean
        if self.training:
            mean = queries.mean(dim=0)
            with torch.no_grad():
                self.mean.lerp_(mean, MOMENTUM)
        alpha = torch.softmax(self.weigh(queries - mean) + self.bias, dim=1)
        combined = sum((alpha[:, i : i + 1] * part for i, part in enumerate(parts)), torch.zeros(()))
        return len(parts) * combined, alpha

    @torch.no_grad()
    def exported_transform(self) -> torch.Tensor:
        """T with its spectral norm divided out [D, D]."""
        return cast(torch.Tensor, self.transform.weight).clone()

    @torch.no_grad()
    def exported_weigh(self) -> torch.Tensor:
        """A, and in the last column what bias and centring add to each logit [parts, parts D + 1]."""
        return torch.cat([self.weigh.weight, (self.bias - self.weigh(self.mean))[:, None]], dim=1)
