"""The graph matching model (Fig. 2): two branches of GIN layers, and a classifier of clusters for each."""

from __future__ import annotations

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import nn

from longtail.blocks.dropout import Dropout
from longtail.blocks.gin import GinLayer, RowNorm, readout
from longtail.systems.gnnxml.config import NetworkConfig

EVENLY = 0.5
"""alpha in prediction: both branches are equally important."""


class Branch(nn.Module):
    """The layers that a branch has for itself, and its classifier of clusters over the readout."""

    def __init__(self, widths: list[int], own: int, n_clusters: int, config: NetworkConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            _layer(widths, k, config) for k in range(len(widths) - 1 - own, len(widths) - 1)
        )
        self.concatenate = config.concatenate
        size = sum(widths) if config.concatenate else widths[-1]
        self.norm = RowNorm(size)
        self.dropout = Dropout(config.dropout)
        self.classifier = nn.Linear(size, n_clusters)

    def forward(self, orders: list[torch.Tensor], edges: csr_array, membership: csr_array) -> torch.Tensor:
        """Vertices after the shared layers -> scores of clusters [n, K]."""
        orders = list(orders)
        for layer in self.layers:
            orders.append(layer(orders[-1], edges))
        seen = self.norm(readout(orders, membership, concatenate=self.concatenate))
        scores: torch.Tensor = self.classifier(self.dropout(seen))
        return scores

    @torch.no_grad()
    def folded(self) -> dict[str, torch.Tensor]:
        """What it is in prediction, by name; the normalisation is part of the classifier."""
        factor, shift = self.norm.folded()
        weight = self.classifier.weight
        return {"classifier": weight * factor, "bias": self.classifier.bias + weight @ shift}


class Network(nn.Module):
    """g = sigma(alpha W_c h_c + (1 - alpha) W_r h_r) (Eq. 6), as scores before the sigma.

    Args:
        width: d, numbers of a vertex.
        n_clusters: K.
        log_odds: where the classifiers' biases begin [K].
    """

    def __init__(self, width: int, n_clusters: int, config: NetworkConfig, log_odds: np.ndarray) -> None:
        super().__init__()
        widths = [width] + [config.width] * config.layers
        shared = min(config.shared, config.layers) if config.branches == 2 else 0
        self.shared = nn.ModuleList(_layer(widths, k, config) for k in range(shared))
        self.branches = nn.ModuleList(
            Branch(widths, config.layers - shared, n_clusters, config) for _ in range(config.branches)
        )
        for branch in self.branches:
            assert isinstance(branch, Branch)
            branch.classifier.bias.data = torch.from_numpy(log_odds.astype(np.float32).copy())

    def scores(
        self, number: int, features: torch.Tensor, edges: csr_array, membership: csr_array
    ) -> torch.Tensor:
        """W h of branch 0 (conventional) or 1 (re-balance) [n, K]."""
        found: torch.Tensor = self.branches[number](self._shared(features, edges), edges, membership)
        return found

    def forward(self, features: torch.Tensor, edges: csr_array, membership: csr_array) -> torch.Tensor:
        """The scores of both branches for the same documents, at alpha = 0.5; of the only one, if there is one."""
        orders = self._shared(features, edges)
        found = [branch(orders, edges, membership) for branch in self.branches]
        return mixed(found[0], found[-1], EVENLY)

    def _shared(self, features: torch.Tensor, edges: csr_array) -> list[torch.Tensor]:
        orders = [features]
        for layer in self.shared:
            orders.append(layer(orders[-1], edges))
        return orders


def mixed(conventional: torch.Tensor, balancing: torch.Tensor, alpha: float) -> torch.Tensor:
    """alpha of one branch's scores and the rest of the other's."""
    return alpha * conventional + (1 - alpha) * balancing


def _layer(widths: list[int], k: int, config: NetworkConfig) -> GinLayer:
    return GinLayer(widths[k], widths[k + 1], eps=config.eps, learn_eps=config.learn_eps)
