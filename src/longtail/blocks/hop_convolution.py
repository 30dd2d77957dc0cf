"""The convolutions of GalaXC (Sec. 4): what a node and its sampled neighbours say, hop by hop."""

from __future__ import annotations

from typing import cast

import torch
from torch import nn

from longtail.graph.hop_sums import coefficient_parts


class HopConvolution(nn.Module):
    """a^k = (1 + eps_k) a^(k-1) + the sum of the neighbours' a^(k-1); the eps are learned, from U[0, 1) on.

    There is nothing between the hops that is not linear, and initial embeddings do not change. So the graph's part
    of the work is done before (``hop_terms``); what is left here is a small matrix of polynomials in the eps.

    Shapes:
        terms [n, 2^K, D] -> [n, K, D]
    """

    def __init__(self, hops: int) -> None:
        super().__init__()
        self.eps = nn.Parameter(torch.rand(hops))
        reached, factors = coefficient_parts(hops)
        self.register_buffer("reached", torch.from_numpy(reached), persistent=False)
        self.register_buffer("factors", torch.from_numpy(factors), persistent=False)

    def forward(self, terms: torch.Tensor) -> torch.Tensor:
        """Convolved embeddings of every order."""
        reached, factors = cast(torch.Tensor, self.reached), cast(torch.Tensor, self.factors)
        return (reached * (1 + factors * self.eps).prod(dim=-1)) @ terms
