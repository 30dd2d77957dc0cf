"""Learns which clusters of labels a document belongs to (Eq. 6 and 7)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.losses.bce import bce
from longtail.metrics.topk import precision, recall
from longtail.systems.gnnxml.network import Network, mixed
from longtail.systems.gnnxml.packing import GraphStore, Packed
from longtail.systems.gnnxml.samplers import ReversedSampler
from longtail.training.task import Batch, Task

AT_ONCE = 512
"""Validation documents that go through the network in one go."""


class Match(Task):
    """Pairs of documents, one by the uniform and one by the reversed sampler, and the adaptive loss between them.

    Args:
        network: both branches, or one.
        store: keyword graphs of training documents.
        clusters: documents x clusters, ones.
        sampler: the reversed one; None: there is one branch.
        epochs: t_max of the adaptive alpha.
        weight_power: a positive cluster of n of N documents counts ((N - n) / n) ** weight_power.
        held: keyword graphs of validation documents, the numbers of those to look at, and their clusters.
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
        held: tuple[GraphStore, np.ndarray, csr_array] | None = None,
    ) -> None:
        self.module = self.network = network
        self.store, self.clusters, self.sampler, self.held = store, clusters, sampler, held
        self.n_documents = len(store)
        self.epochs = epochs
        self.log_weight = torch.from_numpy(weight_power * -log_odds(clusters)) if weight_power else None

    def loss(self, batch: Batch) -> torch.Tensor:
        """alpha E(g, g_c) + (1 - alpha) E(g, g_r), a mean over pairs and clusters."""
        conventional = self._scores(0, self.store.take(batch.rows))
        if self.sampler is None:
            return self._compare(conventional, self.clusters[batch.rows])
        alpha = adaptive(batch.epoch, self.epochs)
        reversed_rows = self.sampler.draw(len(batch.rows), batch.seed)
        balancing = self._scores(1, self.store.take(reversed_rows))
        g = mixed(conventional, balancing, alpha)
        of_uniform = self._compare(g, self.clusters[batch.rows])
        of_reversed = self._compare(g, self.clusters[reversed_rows])
        return alpha * of_uniform + (1 - alpha) * of_reversed

    def validate(self) -> Mapping[str, float] | None:
        """Of clusters at alpha = 0.5: the loss (higher is better, so below 0), P@1 and R@10 in percent."""
        if self.held is None:
            return None
        store, rows, clusters = self.held
        total, best = 0.0, []
        for start in range(0, len(rows), AT_ONCE):
            some = rows[start : start + AT_ONCE]
            packed = store.take(some)
            scores = self.network(self._on_device(packed), packed.edges, packed.membership)
            total += float(self._compare(scores, clusters[start : start + AT_ONCE])) * len(some)
            best.append(np.argsort(-scores.cpu().numpy(), axis=1, kind="stable")[:, :10])
        found = np.concatenate(best)
        return {
            "-loss": -total / len(rows),
            "P@1": 100 * precision(found, clusters, 1),
            "R@10": 100 * recall(found, clusters, 10),
        }

    def _scores(self, branch: int, packed: Packed) -> torch.Tensor:
        return self.network.scores(branch, self._on_device(packed), packed.edges, packed.membership)

    def _on_device(self, packed: Packed) -> torch.Tensor:
        return torch.from_numpy(packed.features).to(self.device)

    def _compare(self, scores: torch.Tensor, right: csr_array) -> torch.Tensor:
        positive = torch.from_numpy(right.toarray() > 0).to(self.device)
        weight = None if self.log_weight is None else self.log_weight.to(self.device)
        return bce(scores, positive, ~positive, weight).mean() / scores.shape[1]


def adaptive(epoch: int, epochs: int) -> float:
    """alpha = 1 - (t / t_max)^2 in the epoch t, from 0: from usual patterns to rare ones."""
    return 1.0 - (epoch / epochs) ** 2


def log_odds(clusters: csr_array) -> np.ndarray:
    """The logarithm of yes to no of each cluster, float32 [K]; half a document more on both sides."""
    n = clusters.shape[0]
    counts = np.bincount(clusters.indices, minlength=clusters.shape[1])
    return np.asarray(np.log((counts + 0.5) / (n - counts + 0.5)), np.float32)
