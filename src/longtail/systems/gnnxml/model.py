"""The graph matching model (Sec. 3.1, Fig. 2): two branches of GIN layers that match documents with label clusters.

    h_v <- MLP((1 + eps) h_v + sum over neighbours u of h_u)          (Eq. 4, blocks/gin.py)
    h_G = concat over layers of the sums of their vertices            (Eq. 5)
    g = sigma(alpha W_c h_c + (1 - alpha) W_r h_r)                    (Eq. 6)
    loss = alpha E(g, g_c) + (1 - alpha) E(g, g_r)                    (Eq. 7)
    alpha = 1 - (t / t_max)^2 in epoch t of training, 0.5 in prediction

The conventional branch (c) has documents of a uniform sampler, which is the trainer's own order: each document
once per epoch. The re-balance branch (r) has documents of the reversed sampler.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from scipy.sparse import csc_array, csr_array
from torch import nn

from longtail.blocks.dropout import Dropout
from longtail.blocks.gin import GinLayer, RowNorm, readout
from longtail.blocks.sparse_product import Bags, sparse_product
from longtail.errors import UsageError
from longtail.losses.bce import bce
from longtail.metrics.topk import precision, recall
from longtail.systems.gnnxml.config import NetworkConfig
from longtail.systems.gnnxml.packing import GraphStore, Packed
from longtail.training.rows import RowTable
from longtail.training.task import Batch, Task

ALPHA = 0.5
"""alpha in prediction: both branches are equally important."""

BATCH = 512
"""Validation documents per forward pass."""


class Branch(nn.Module):
    """The layers of one branch alone, and its classifier of clusters over the readout.

    Args:
        widths: dimensions of a vertex before the first and after each layer.
        n_layers: how many of the layers, the last ones, belong to the branch alone.
    """

    def __init__(self, widths: list[int], n_layers: int, n_clusters: int, config: NetworkConfig) -> None:
        super().__init__()
        last = len(widths) - 1
        self.layers = nn.ModuleList(_layer(widths, k, config) for k in range(last - n_layers, last))
        self.concatenate = config.concatenate
        size = sum(widths) if config.concatenate else widths[-1]
        self.norm = RowNorm(size)
        self.dropout = Dropout(config.dropout)
        self.classifier = nn.Linear(size, n_clusters)

    def forward(self, orders: list[torch.Tensor], edges: csr_array, membership: csr_array) -> torch.Tensor:
        """Vertices after the shared layers -> W h [n, K]."""
        orders = list(orders)
        for layer in self.layers:
            orders.append(layer(orders[-1], edges))
        h = self.norm(readout(orders, membership, concatenate=self.concatenate))
        scores: torch.Tensor = self.classifier(self.dropout(h))
        return scores

    @torch.no_grad()
    def exported(self) -> dict[str, torch.Tensor]:
        """The normalisation of the readout and the classifier over it, for prediction."""
        factor, shift = self.norm.exported()
        return {
            "scale": factor,
            "shift": shift,
            "classifier": self.classifier.weight,
            "bias": self.classifier.bias,
        }


class Network(nn.Module):
    """g before the sigma (Eq. 6).

    Args:
        width: d, the dimension of a vertex.
        n_clusters: K.
        log_odds: initial biases of the classifiers [K].
    """

    def __init__(self, width: int, n_clusters: int, config: NetworkConfig, log_odds: np.ndarray) -> None:
        super().__init__()
        widths = [width] + [config.width] * config.layers
        shared = config.n_shared
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
        """The scores of both branches for the same documents at alpha = 0.5; with one branch, its scores.

        Shapes:
            features [V, d], edges [V, V], membership [n, V] -> [n, K]
        """
        orders = self._shared(features, edges)
        found = [branch(orders, edges, membership) for branch in self.branches]
        return mixed(found[0], found[-1], ALPHA)

    @torch.no_grad()
    def exported(self) -> dict[str, np.ndarray]:
        """The arrays of prediction by name, as ``predict.network_schema`` declares them."""
        found: dict[str, torch.Tensor] = {}
        for k, layer in enumerate(cast(list[GinLayer], self.shared)):
            found |= {f"shared/{k}/{name}": tensor for name, tensor in layer.exported().items()}
        for number, branch in enumerate(cast(list[Branch], self.branches)):
            found |= {f"{number}/{name}": tensor for name, tensor in branch.exported().items()}
            for k, layer in enumerate(cast(list[GinLayer], branch.layers), len(self.shared)):
                found |= {f"{number}/{k}/{name}": tensor for name, tensor in layer.exported().items()}
        return {name: np.array(tensor.detach().numpy(), np.float32) for name, tensor in found.items()}

    def _shared(self, features: torch.Tensor, edges: csr_array) -> list[torch.Tensor]:
        orders = [features]
        for layer in self.shared:
            orders.append(layer(orders[-1], edges))
        return orders


def mixed(conventional: torch.Tensor, rebalance: torch.Tensor, alpha: float) -> torch.Tensor:
    """alpha W_c h_c + (1 - alpha) W_r h_r."""
    return alpha * conventional + (1 - alpha) * rebalance


def adaptive(epoch: int, epochs: int) -> float:
    """alpha = 1 - (t / t_max)^2 in epoch t, from 0: from universal patterns to tail labels."""
    return 1.0 - (epoch / epochs) ** 2


class ReversedSampler:
    """Samples a label with p_l ~ n_max / n_l, then one of its n_l documents, all with replacement.

    Labels without documents are never sampled.

    Shapes:
        Y [documents, labels]
    """

    def __init__(self, Y: csr_array) -> None:
        by_label = csc_array(Y)
        self.first, self.documents = by_label.indptr.astype(np.int64), by_label.indices
        self.counts = np.diff(self.first)
        self.labels = np.flatnonzero(self.counts)
        if not len(self.labels):
            raise UsageError("no document has a label: there is nothing to sample")
        weights = self.counts.max() / self.counts[self.labels]
        self.probabilities = weights / weights.sum()
        """p of each of ``labels``."""
        self._bounds = np.cumsum(self.probabilities)

    def sample(self, size: int, seed: int) -> np.ndarray:
        """``size`` documents, int64; the same seed gives the same ones."""
        rng = np.random.default_rng(seed)
        found = np.searchsorted(self._bounds, rng.random(size), side="right")
        # The last bound may be a rounding error below 1.
        labels = self.labels[np.minimum(found, len(self.labels) - 1)]
        chosen = (rng.random(size) * self.counts[labels]).astype(np.int64)
        places = self.first[labels] + np.minimum(chosen, self.counts[labels] - 1)
        return np.asarray(self.documents[places], np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class ValidationGraphs:
    """Validation documents: keyword graphs and clusters [n, K]."""

    store: GraphStore
    clusters: csr_array


class ClusterMatching(Task):
    """Pairs of documents, one of the uniform and one of the reversed sampler, and the adaptive loss (Eq. 7).

    Args:
        network: with two branches, or one.
        store: keyword graphs of training documents.
        clusters: documents x clusters, ones.
        sampler: the reversed one; None: there is one branch.
        epochs: t_max of the adaptive alpha.
        weight_power: a positive cluster of n of N documents has the weight ((N - n) / n) ** weight_power.
        words: vectors of words, trained with the network, where ``store`` has weights of words.
    """

    def __init__(
        self,
        network: Network,
        store: GraphStore,
        clusters: csr_array,
        sampler: ReversedSampler | None,
        *,
        epochs: int,
        weight_power: float,
        words: RowTable | None = None,
        validation: ValidationGraphs | None = None,
    ) -> None:
        self.module = self.network = network
        self.store, self.clusters, self.sampler, self.validation = store, clusters, sampler, validation
        self.n_documents = len(store)
        self.epochs, self.words = epochs, words
        self.log_weight = torch.from_numpy(weight_power * -log_odds(clusters)) if weight_power else None

    def tables(self) -> Mapping[str, RowTable]:
        """The vectors of words, if they are trained."""
        return {} if self.words is None else {"words": self.words}

    def loss(self, batch: Batch) -> torch.Tensor:
        """alpha E(g, g_c) + (1 - alpha) E(g, g_r), the mean over pairs and clusters."""
        conventional = self._scores(0, self.store.take(batch.rows))
        if self.sampler is None:
            return self._cross_entropy(conventional, self.clusters[batch.rows])
        alpha = adaptive(batch.epoch, self.epochs)
        sampled = self.sampler.sample(len(batch.rows), batch.seed)
        rebalance = self._scores(1, self.store.take(sampled))
        g = mixed(conventional, rebalance, alpha)
        uniform_loss = self._cross_entropy(g, self.clusters[batch.rows])
        reversed_loss = self._cross_entropy(g, self.clusters[sampled])
        return alpha * uniform_loss + (1 - alpha) * reversed_loss

    def validate(self) -> Mapping[str, float] | None:
        """Of clusters at alpha = 0.5: the negative loss (higher is better), P@1 and R@10 in percent."""
        if self.validation is None:
            return None
        store, clusters = self.validation.store, self.validation.clusters
        total, best = 0.0, []
        for start in range(0, len(store), BATCH):
            rows = np.arange(start, min(start + BATCH, len(store)))
            packed = store.take(rows)
            scores = self.network(self._vertices(packed), packed.edges, packed.membership)
            total += float(self._cross_entropy(scores, clusters[rows])) * len(rows)
            best.append(np.argsort(-scores.cpu().numpy(), axis=1, kind="stable")[:, :10])
        found = np.concatenate(best)
        return {
            "-loss": -total / len(store),
            "P@1": 100 * precision(found, clusters, 1),
            "R@10": 100 * recall(found, clusters, 10),
        }

    def _scores(self, branch: int, packed: Packed) -> torch.Tensor:
        return self.network.scores(branch, self._vertices(packed), packed.edges, packed.membership)

    def _vertices(self, packed: Packed) -> torch.Tensor:
        """Vectors of vertices [V, d]."""
        if self.words is None:
            return torch.from_numpy(packed.vectors).to(self.device)
        bags = Bags.of(csr_array(packed.features))
        return sparse_product(bags.matrices[0], self.words.take(bags.rows))

    def _cross_entropy(self, scores: torch.Tensor, clusters: csr_array) -> torch.Tensor:
        """E, weighted binary cross entropy: the mean over documents and clusters."""
        positive = torch.from_numpy(clusters.toarray() > 0).to(self.device)
        weight = None if self.log_weight is None else self.log_weight.to(self.device)
        return bce(scores, positive, ~positive, weight).mean() / scores.shape[1]


def log_odds(clusters: csr_array) -> np.ndarray:
    """The logarithm of the odds of each cluster, float32 [K], with half a document added on both sides."""
    n = clusters.shape[0]
    counts = np.bincount(clusters.indices, minlength=clusters.shape[1])
    return np.asarray(np.log((counts + 0.5) / (n - counts + 0.5)), np.float32)


def _layer(widths: list[int], k: int, config: NetworkConfig) -> GinLayer:
    return GinLayer(widths[k], widths[k + 1], eps=config.eps, learn_eps=config.learn_eps)
