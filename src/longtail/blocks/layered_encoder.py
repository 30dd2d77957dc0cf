"""The graph encoders that GalaXC is compared with (Tab. 7): GIN and GraphSAGE, non-linear between the hops."""

from __future__ import annotations

from typing import Literal, cast

import numpy as np
import torch
from torch import nn

from longtail.blocks.dropout import Dropout
from longtail.errors import UsageError
from longtail.graph.layers import Layers


class Gin(nn.Module):
    """Xu et al., ICLR 2019: MLP_k((1 + eps_k) x + the sum of the neighbours), an MLP with one hidden layer.

    Hidden units come in pairs, relu(x) and relu(-x), whose difference is x: so the MLP starts as the identity for
    all numbers, where a hidden layer of the input's width would lose negative ones. The eps start as 0.

    Shapes:
        own [rows, D], sums [rows, D], counts [rows, 1] -> [rows, D]
    """

    def __init__(self, width: int, hops: int, dropout: float) -> None:
        super().__init__()
        pairs = torch.cat([torch.eye(width), -torch.eye(width)])
        self.eps = nn.Parameter(torch.zeros(hops))
        self.inner = nn.Parameter(pairs.repeat(hops, 1, 1))
        self.inner_bias = nn.Parameter(torch.zeros((hops, 2 * width)))
        self.outer = nn.Parameter(pairs.T.repeat(hops, 1, 1))
        self.outer_bias = nn.Parameter(torch.zeros((hops, width)))
        self.dropout = Dropout(dropout)

    def forward(self, hop: int, own: torch.Tensor, sums: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        """One hop, numbered from 0."""
        mixed = (1 + self.eps[hop]) * own + sums
        hidden = torch.relu(nn.functional.linear(mixed, self.inner[hop], self.inner_bias[hop]))
        return nn.functional.linear(self.dropout(hidden), self.outer[hop], self.outer_bias[hop])


class GraphSage(nn.Module):
    """Hamilton et al., NIPS 2017: relu(W_k [x ; the mean of the neighbours]), in rows of length 1.

    W starts as two identities beside each other. A row without anything positive stays zero.

    Shapes:
        own [rows, D], sums [rows, D], counts [rows, 1] -> [rows, D]
    """

    def __init__(self, width: int, hops: int, dropout: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.eye(width).repeat(hops, 1, 2))
        self.dropout = Dropout(dropout)

    def forward(self, hop: int, own: torch.Tensor, sums: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        """One hop, numbered from 0."""
        both = torch.cat([own, sums / counts.clamp(min=1)], dim=1)
        hidden = torch.relu(nn.functional.linear(self.dropout(both), self.weight[hop]))
        return nn.functional.normalize(hidden, dim=1)


class LayeredEncoder(nn.Module):
    """a^1, .. a^K of the roots, by one of the published convolutions over the rows of ``Layers``.

    Shapes:
        start [rows of level 0, D], the initial embeddings of roots and nodes -> [n, K, D]
    """

    def __init__(
        self, kind: Literal["gin", "graphsage"], width: int, hops: int, dropout: float = 0.2
    ) -> None:
        super().__init__()
        kinds: dict[str, type[Gin | GraphSage]] = {"gin": Gin, "graphsage": GraphSage}
        if kind not in kinds:
            raise UsageError(f"there is no encoder '{kind}': choose one of {', '.join(kinds)}")
        self.kind, self.width, self.hops = kind, width, hops
        self.convolution = kinds[kind](width, hops, dropout)

    def forward(self, layers: Layers, start: torch.Tensor) -> torch.Tensor:
        """Embeddings of every order."""
        expected = (layers.n_rows(0), self.width)
        if layers.n_hops != self.hops or start.shape != expected:
            raise UsageError(
                f"{layers.n_hops} hops over embeddings {tuple(start.shape)} do not fit an encoder of "
                f"{self.hops} hops, which needs {expected}"
            )
        x, orders = start, []
        for hop, (own, neighbours) in enumerate(zip(layers.own, layers.neighbours, strict=True)):
            places = torch.from_numpy(neighbours).to(x.device)
            counts = (places >= 0).sum(dim=1, keepdim=True)
            itself = x[torch.from_numpy(own).to(x.device)]
            x = cast(torch.Tensor, self.convolution(hop, itself, neighbour_sums(x, places), counts))
            orders.append(x[: layers.n_roots])
        return torch.stack(orders, dim=1)

    @torch.no_grad()
    def arrays(self) -> dict[str, np.ndarray]:
        """The weights by their names, for ``shortlist.layered.LayeredWeights``."""
        return {
            name: weights.detach().cpu().numpy().copy()
            for name, weights in self.convolution.named_parameters()
        }


def neighbour_sums(x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """The sum of the rows at each row of ``places``, -1 for none.

    Shapes:
        x [m, D], places int64 [rows, fan-out] -> [rows, D]
    """
    # A row of zeros behind the others stands for those that are not there.
    padded = torch.cat([x, x.new_zeros((1, x.shape[1]))])
    return nn.functional.embedding_bag(torch.where(places >= 0, places, len(x)), padded, mode="sum")
