"""Token embeddings from a surrogate task: which clusters of labels has a document? (Module I of DeepXML, Astec)

    x^ = dropout(relu(B(E x))),  s_c = <w_c, x^> + b

E are the token embeddings, B is an embedding block, w_c the classifier of cluster c.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import nn

from longtail.blocks.dropout import Dropout
from longtail.blocks.embedding_block import EmbeddingBlock
from longtail.blocks.sparse_product import Bags, sparse_product
from longtail.cluster.label_tree import label_centroids
from longtail.cluster.meta_labels import MetaLabels, meta_labels, nearest_power_of_two, smoothed_centroids
from longtail.graph.label_graph import heads, label_graph
from longtail.run import Run
from longtail.systems.galaxc.config import GalaxcConfig
from longtail.training.checkpoint import Checkpoints
from longtail.training.label_loss import LabelLoss, log_odds
from longtail.training.matrices import TrainingMatrices, strongest_terms
from longtail.training.rows import RowTable
from longtail.training.sampled_negatives import BatchSampler
from longtail.training.task import Batch, Task
from longtail.training.trainer import train

LABELS_PER_CLUSTER = 8
"""Labels that share a cluster, about."""
CENTROID_TERMS = 64
"""Terms that the centroid of a label keeps."""
HEAD_ABOVE = 500
"""Labels of more documents than this are in clusters of their own kind."""
DROPOUT = 0.5
"""Share of the hidden values that a step leaves out, as in the paper."""


class Encoder(nn.Module):
    """An embedding block on sums of token embeddings, and one bias for all clusters.

    Shapes:
        x [n, D] -> [n, D]
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.block = EmbeddingBlock(width, DROPOUT)
        self.dropout = Dropout(DROPOUT)
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Embed documents."""
        embedded: torch.Tensor = self.dropout(torch.relu(self.block(x)))
        return embedded


class Surrogate(Task):
    """Binary cross entropy over clusters, each with a free classifier."""

    def __init__(self, X: csr_array, Y: csr_array, width: int, config: GalaxcConfig, seed: int) -> None:
        rng = np.random.default_rng(seed)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.network = Encoder(width)
        self.network.bias.data.fill_(log_odds(Y))
        self.module = self.network
        self.X, self.n_documents = X, X.shape[0]
        scale = np.float32(np.sqrt(2 / width))
        self.tokens = RowTable(rng.standard_normal((X.shape[1], width), np.float32) * scale)
        self.clusters = RowTable(np.zeros((Y.shape[1], width), np.float32))
        self.sampler = BatchSampler(
            Y,
            n_random=config.negatives.n_random(Y.shape[1]),
            corrected=config.negatives.corrected,
            batch_size=config.initial.surrogate.batch_size,
        )
        self.label_loss = LabelLoss("bce", np.bincount(Y.indices, minlength=Y.shape[1]))

    def tables(self) -> Mapping[str, RowTable]:
        """Token embeddings and cluster classifiers."""
        return {"tokens": self.tokens, "clusters": self.clusters}

    def loss(self, batch: Batch) -> torch.Tensor:
        """The mean loss of some documents over the sampled clusters."""
        sampled = self.sampler.sample(batch)
        bags = Bags.of(self.X[batch.rows])
        x = sparse_product(bags.matrices[0], self.tokens.take(bags.rows))
        scores = self.network(x) @ self.clusters.take(sampled.columns).T + self.network.bias
        return self.label_loss(scores, sampled)


def clusters_of(matrices: TrainingMatrices, config: GalaxcConfig) -> MetaLabels:
    """Balanced clusters of labels by centroids that are smoothed with the label graph."""
    X, Y, Z = matrices.X, matrices.Y, matrices.Z
    wanted = config.initial.clusters or nearest_power_of_two(Y.shape[1] / LABELS_PER_CLUSTER)
    G = label_graph(Y, head_above=HEAD_ABOVE, seed=config.seed)
    centroids = smoothed_centroids(G, label_centroids(X, Y, Z))
    return meta_labels(
        strongest_terms(centroids, CENTROID_TERMS),
        clusters=wanted,
        heads=heads(Y, HEAD_ABOVE),
        seed=config.seed,
    )


def surrogate_tokens(
    matrices: TrainingMatrices, width: int, config: GalaxcConfig, run: Run, checkpoints: Checkpoints | None
) -> np.ndarray:
    """Token embeddings E, float32 [columns, width]."""
    with run.phase("clusters"):
        cluster_of, n_clusters = clusters_of(matrices, config)
        member = csr_array(
            (np.ones(len(cluster_of), np.float32), cluster_of, np.arange(len(cluster_of) + 1)),
            shape=(len(cluster_of), n_clusters),
        )
        Y = csr_array(matrices.Y @ member)
        Y.data[:] = 1
    task = Surrogate(matrices.X, Y, width, config, config.seed)
    train(
        task, config.initial.surrogate, stage="surrogate", seed=config.seed, run=run, checkpoints=checkpoints
    )
    return np.asarray(task.tokens.weight.numpy())
