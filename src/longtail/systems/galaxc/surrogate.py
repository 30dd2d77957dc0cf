"""Token embeddings from a surrogate task (Module I of DeepXML): which clusters of labels has a document?"""

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
from longtail.systems.common.label_loss import LabelLoss, log_odds
from longtail.systems.common.rows import Rows, strongest_terms
from longtail.systems.galaxc.config import GalaxcConfig
from longtail.training.checkpoint import Checkpoints
from longtail.training.rows import RowTable
from longtail.training.task import Batch, Task
from longtail.training.trainer import train

LABELS_A_CLUSTER = 8
"""Labels that share a cluster, about."""
CENTROID_TERMS = 64
"""Terms that a label's centroid keeps."""
HEAD_ABOVE = 500
"""Labels of more documents than this are clusters apart from the others."""
DROPOUT = 0.5
"""Share of the hidden values that a step leaves out, as in the paper."""


class Encoder(nn.Module):
    """A light residual block on sums of token embeddings, and one bias for all clusters.

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
    """A bag of token embeddings through a light residual block, and a free classifier for each cluster."""

    def __init__(self, X: csr_array, Y: csr_array, width: int, config: GalaxcConfig, seed: int) -> None:
        rng = np.random.default_rng(seed)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.network = Encoder(width)
        self.network.bias.data.fill_(log_odds(Y))
        self.module = self.network
        self.X, self.n_documents = X, X.shape[0]
        spread = np.float32(np.sqrt(2 / width))
        self.tokens = RowTable(rng.standard_normal((X.shape[1], width), np.float32) * spread)
        self.clusters = RowTable(np.zeros((Y.shape[1], width), np.float32))
        self.loss_function = LabelLoss(
            Y,
            "bce",
            random=config.negatives.drawn(Y.shape[1]),
            corrected=config.negatives.corrected,
            batch_size=config.initial.surrogate.batch_size,
        )

    def tables(self) -> Mapping[str, RowTable]:
        """Token embeddings and cluster classifiers."""
        return {"tokens": self.tokens, "clusters": self.clusters}

    def loss(self, batch: Batch) -> torch.Tensor:
        """The mean loss of some documents over the clusters in question."""
        question = self.loss_function.draw(batch, self.device)
        bags = Bags.of(self.X[batch.rows])
        x = sparse_product(bags.matrices[0], self.tokens.take(bags.rows))
        scores = self.network(x) @ self.clusters.take(question.columns).T + self.network.bias
        return self.loss_function(scores, question)


def clusters_of(rows: Rows, config: GalaxcConfig) -> MetaLabels:
    """Balanced clusters of labels by centroids that a walk over labels has smoothed."""
    n_labels = rows.Y.shape[1]
    wanted = config.initial.clusters or nearest_power_of_two(n_labels / LABELS_A_CLUSTER)
    G = label_graph(rows.Y, head_above=HEAD_ABOVE, seed=config.seed)
    centroids = smoothed_centroids(G, label_centroids(rows.X, rows.Y, rows.Z))
    return meta_labels(
        strongest_terms(centroids, CENTROID_TERMS),
        clusters=wanted,
        heads=heads(rows.Y, HEAD_ABOVE),
        seed=config.seed,
    )


def surrogate_tokens(
    rows: Rows, width: int, config: GalaxcConfig, run: Run, checkpoints: Checkpoints | None
) -> np.ndarray:
    """Token embeddings float32 [columns, width]."""
    with run.phase("clusters"):
        codes, n_clusters = clusters_of(rows, config)
        member = csr_array(
            (np.ones(len(codes), np.float32), codes, np.arange(len(codes) + 1)),
            shape=(len(codes), n_clusters),
        )
        Y = csr_array(rows.Y @ member)
        Y.data[:] = 1
    task = Surrogate(rows.X, Y, width, config, config.seed)
    train(
        task, config.initial.surrogate, stage="surrogate", seed=config.seed, run=run, checkpoints=checkpoints
    )
    return np.asarray(task.tokens.weight.numpy())
