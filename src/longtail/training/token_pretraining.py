"""Token embeddings that are pre-trained to rank labels by their texts, for systems that start from such embeddings.

Two stages of ECLARE (Mittal et al., WWW 2021, Modules I and IV), with all labels in both and a ranking loss. E are
the token embeddings, B_i embedding blocks (``blocks.embedding_block``), z_l the text of label l, n_l its number of
documents and G the label graph:

    document     x^ = relu(B_0(E x))
    label        w_l = B_1(E z_l) + B_2(E sum_m G_lm z_m) + n_l / (n_l + SHRINKAGE) r_l
    score        s_l = <w_l, x^>

The first stage has no refinement vectors r. The second one starts them as E sum_m G_lm z_m, on the graph without
the edges between label texts that the first stage has moved apart.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import nn

from longtail.blocks.dropout import Dropout, part_of
from longtail.blocks.embedding_block import EmbeddingBlock
from longtail.blocks.sparse_product import Bags, multiply, sparse_product
from longtail.graph.label_graph import label_graph
from longtail.graph.pruning import drop_distant
from longtail.run import Run
from longtail.training.checkpoint import Checkpoints
from longtail.training.label_loss import LabelLoss
from longtail.training.matrices import TrainingMatrices, strongest_terms
from longtail.training.rows import RowTable
from longtail.training.sampled_negatives import BatchSampler
from longtail.training.task import Batch, Task
from longtail.training.train_config import TrainConfig
from longtail.training.trainer import train

DROPOUT = 0.2
"""Share of the hidden values that a training step leaves out."""
MAX_TERMS = 128
"""Terms that a (smoothed) label text keeps: those of highest weight."""
SHRINKAGE = 5.0
"""The refinement vector of a label of n documents counts n / (n + SHRINKAGE)."""
RANDOM_LABELS = 1000
"""Random labels per step, beside the positives of the batch."""
MAX_DISTANCE = 1.0
"""Edges between label texts of a greater cosine distance than this are removed after the first stage."""


class Network(nn.Module):
    """The blocks of documents, label texts and smoothed label texts; embeddings and refinement vectors are tables.

    Shapes:
        D: width
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.document = EmbeddingBlock(width, DROPOUT)
        self.dropout = Dropout(DROPOUT)
        self.texts = nn.ModuleList(EmbeddingBlock(width, DROPOUT) for _ in range(2))

    def documents(self, x: torch.Tensor) -> torch.Tensor:
        """Sums of token embeddings [n, D] -> embeddings of documents [n, D]."""
        embedded: torch.Tensor = self.dropout(torch.relu(self.document(x)))
        return embedded

    def classifiers(self, text: torch.Tensor, smoothed: torch.Tensor) -> torch.Tensor:
        """Sums of token embeddings of label texts and of smoothed ones [m, D] -> w without refinement [m, D]."""
        first, second = self.texts
        classifiers: torch.Tensor = first(text) + second(smoothed)
        return classifiers


class RankLabels(Task):
    """Ranks the labels of a document above sampled negatives (GRank loss).

    Args:
        tokens: E [columns, D].
        refinement: r [L, D]; None: the first stage.
        smoothed: label texts smoothed by the graph [L, columns].
        batch_size: documents per step.
    """

    splits = True
    label_tables = ("refinement",)

    def __init__(
        self,
        network: Network,
        tokens: RowTable,
        refinement: RowTable | None,
        matrices: TrainingMatrices,
        smoothed: csr_array,
        batch_size: int,
    ) -> None:
        self.module = self.network = network
        self.tokens, self.refinement = tokens, refinement
        self.X, self.n_documents = matrices.X, matrices.X.shape[0]
        self.texts = (strongest_terms(matrices.Z, MAX_TERMS), smoothed)
        counts = np.bincount(matrices.Y.indices, minlength=matrices.Y.shape[1])
        self.shrinkage = torch.from_numpy((counts / (counts + SHRINKAGE)).astype(np.float32))[:, None]
        self.sampler = BatchSampler(
            matrices.Y,
            self_label=matrices.self_label,
            n_random=RANDOM_LABELS,
            corrected=True,
            batch_size=batch_size,
        )
        self.label_loss = LabelLoss("grank", counts)

    def tables(self) -> Mapping[str, RowTable]:
        """Token embeddings and refinement vectors."""
        tables = {"tokens": self.tokens}
        return tables if self.refinement is None else {**tables, "refinement": self.refinement}

    def loss(self, batch: Batch) -> torch.Tensor:
        """The mean loss of some documents over the sampled labels."""
        sampled, world, n = self.sampler.sample(batch), self.world, len(batch.rows)
        rows, own = world.rows(n), world.columns(sampled.columns)
        columns = sampled.columns[own]
        bags = Bags.of(self.X[batch.rows[rows]], *(text[columns] for text in self.texts))
        tokens = self.tokens.take(bags.rows)
        x, text, smoothed = (sparse_product(matrix, tokens) for matrix in bags.matrices)
        with part_of(rows, n):
            documents = self.network.documents(x)
        with part_of(own, len(sampled.columns)):
            classifiers = self.network.classifiers(text, smoothed)
        if self.refinement is not None:
            shrinkage = self.shrinkage[torch.from_numpy(columns)].to(self.device)
            classifiers = classifiers + self.refinement.take(columns) * shrinkage
        scores = world.gather_columns(world.gather_rows(documents, n) @ classifiers.T, sampled.columns)
        return self.label_loss(scores[rows], sampled.of_documents(rows))


def pretrained_tokens(
    matrices: TrainingMatrices,
    width: int,
    embed: TrainConfig,
    rank: TrainConfig,
    *,
    seed: int,
    run: Run,
    checkpoints: Checkpoints | None = None,
) -> np.ndarray:
    """Token embeddings E, float32 [columns, width].

    Args:
        embed: the first stage, label texts alone.
        rank: the second stage, with refinement vectors.
    """
    with run.phase("label graph"):
        G = label_graph(matrices.Y, seed=seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = Network(width)
    # He et al., 2015.
    scale = np.float32(np.sqrt(2 / width))
    tokens = RowTable(
        np.random.default_rng(seed).standard_normal((matrices.X.shape[1], width), np.float32) * scale
    )
    task = RankLabels(network, tokens, None, matrices, smoothed_texts(G, matrices.Z), embed.batch_size)
    train(task, embed, stage="embed", seed=seed, run=run, checkpoints=checkpoints)

    # Adam starts anew, as it does if this stage is resumed from a checkpoint.
    tokens.forget_moments()
    smoothed = smoothed_texts(
        drop_distant(G, multiply(matrices.Z, tokens.weight.numpy()), MAX_DISTANCE), matrices.Z
    )
    refinement = RowTable(multiply(smoothed, tokens.weight.numpy()))
    task = RankLabels(network, tokens, refinement, matrices, smoothed, rank.batch_size)
    train(task, rank, stage="rank", seed=seed, run=run, checkpoints=checkpoints)
    return np.asarray(tokens.weight.numpy())


def smoothed_texts(G: csr_array, Z: csr_array) -> csr_array:
    """G Z, cut to the strongest terms of each label."""
    return strongest_terms(csr_array(G @ Z), MAX_TERMS)
