"""ECLARE's network (Fig. 3) and its loss: documents and classifiers of labels (or clusters) from shared tokens.

The equations::

    document   x^ = ReLU(block(E x))                          (Sec. 3.1)
    label      z_1 = block(E z), z_2 = block(E G z), z_3 = refinement vector
               w = sum of alpha_i z_i                         (Sec. 3.3; alpha by attention, or ones)
    score      s = <w, x^> + b
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_array, eye_array, vstack
from torch import nn

from longtail.blocks.dropout import Dropout, part_of
from longtail.blocks.embedding_block import EmbeddingBlock
from longtail.blocks.gcn import Gcn
from longtail.blocks.label_attention import LabelAttention
from longtail.blocks.sparse_product import Bags, sparse_product
from longtail.cluster.label_tree import unit_rows
from longtail.systems.eclare.config import ClassifierConfig, NegativesConfig
from longtail.training.label_loss import LabelLoss, log_odds
from longtail.training.rows import RowTable
from longtail.training.sampled_negatives import BatchSampler
from longtail.training.task import Batch, Task
from longtail.training.train_config import Loss

EXPORTED_AT_ONCE = 8192
"""Classifiers that are computed in one go when all are wanted: bounds memory."""


class Network(nn.Module):
    """The dense weights; token embeddings and refinement vectors are row tables beside them.

    The parts of a classifier are its text (order 0) and graph-convolved texts (orders 1 to k), each through a block
    of its own, and its refinement vector.
    """

    def __init__(self, width: int, config: ClassifierConfig, *, refinement: bool, dropout: float) -> None:
        super().__init__()
        self.config = config
        self.document = EmbeddingBlock(width, dropout)
        self.dropout = Dropout(dropout)
        # One number for all labels. Ranking losses do not depend on it: it stays 0 unless a task trains it.
        self.bias = nn.Parameter(torch.zeros(()), requires_grad=False)
        self.blocks = nn.ModuleList()
        if config.lte:
            self.blocks.append(EmbeddingBlock(width, dropout))
        if config.gale != "none":
            self.blocks.extend(self._gale(width, dropout) for _ in range(config.order))
        parts = len(self.blocks) + refinement
        # One part alone needs no attention.
        attends = config.combine == "attention" and parts > 1
        self.attention = LabelAttention(width, parts, dropout) if attends else None

    def _gale(self, width: int, dropout: float) -> nn.Module:
        if self.config.gale == "gcn":
            return Gcn(width, dropout)
        return EmbeddingBlock(width, dropout) if self.config.gale == "block" else nn.Identity()

    def shrinkage(self, counts: np.ndarray) -> torch.Tensor:
        """n / (n + s), the factor of the refinement vectors of labels with n documents [labels, 1]."""
        s = self.config.shrinkage
        factor = np.ones(len(counts)) if s == 0 else counts / (counts + s)
        return torch.from_numpy(factor.astype(np.float32))[:, None]

    def documents(self, bags: csr_array, tokens: torch.Tensor) -> torch.Tensor:
        """Documents [n, tokens] -> embeddings [n, D] (Sec. 3.1)."""
        embedded: torch.Tensor = self.dropout(torch.relu(self.document(sparse_product(bags, tokens))))
        return embedded

    def classifiers(
        self, texts: Sequence[csr_array], tokens: torch.Tensor, refinement: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Texts of each order [n, tokens] and refinement vectors [n, D] -> w [n, D], weights [n, parts]."""
        parts = [block(sparse_product(text, tokens)) for block, text in zip(self.blocks, texts, strict=True)]
        if refinement is not None:
            parts.append(refinement)
        if self.attention is not None:
            combined, alpha = self.attention(parts)
        else:
            combined = torch.stack(parts).sum(dim=0)
            alpha = combined.new_ones((len(combined), len(parts)))
        with torch.no_grad():
            lengths = torch.stack([part.norm(dim=1) for part in parts], dim=1)
        return combined, alpha.detach() * lengths

    def start_from(self, other: Network) -> None:
        """Copy the weights of another network; not those of attention, which may have another number of parts."""
        self.document.load_state_dict(other.document.state_dict())
        self.blocks.load_state_dict(other.blocks.state_dict())

    @torch.no_grad()
    def exported_blocks(self) -> np.ndarray:
        """The matrices of the text blocks [texts, D, D]; zeros where there is no block."""
        width = self.document.width
        exported = np.zeros((len(self.blocks), width, width), np.float32)
        for matrix, block in zip(exported, self.blocks, strict=True):
            if isinstance(block, EmbeddingBlock):
                matrix[:] = block.exported().numpy()
            elif isinstance(block, Gcn):
                matrix[:] = block.linear.weight.numpy()
        return exported

    @torch.no_grad()
    def export_classifiers(
        self,
        texts: Sequence[csr_array],
        tokens: RowTable,
        refinement: RowTable | None,
        counts: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Every classifier as one matrix [labels, D], and the weight of each part in it [labels, parts].

        A part's weight is its attention times its norm (Fig. 9).
        """
        was_training = self.training
        self.eval()
        # Filled in place: parts that are joined at the end would take the memory twice.
        n = _rows(texts, refinement)
        classifiers = np.empty((n, self.document.width), np.float32)
        weights = np.empty((n, len(self.blocks) + (refinement is not None)), np.float32)
        for start in range(0, n, EXPORTED_AT_ONCE):
            some = slice(start, start + EXPORTED_AT_ONCE)
            bags = Bags.of(*(text[some] for text in texts)) if texts else None
            rows = None if refinement is None else refinement.weight[some] * self.shrinkage(counts[some])
            leaf = tokens.weight[torch.from_numpy(bags.rows)] if bags else tokens.weight[:0]
            w, alpha = self.classifiers(bags.matrices if bags else (), leaf, rows)
            classifiers[some], weights[some] = w.cpu().numpy(), alpha.cpu().numpy()
        self.train(was_training)
        return classifiers, weights


def _rows(texts: Sequence[csr_array], refinement: RowTable | None) -> int:
    if texts:
        return int(texts[0].shape[0])
    assert refinement is not None
    return len(refinement)


@dataclass(frozen=True, slots=True)
class Targets:
    """What a module predicts: clusters or labels.

    Attributes:
        Y: [documents, targets].
        texts: the text of each target and its graph-convolved texts, one matrix [targets, tokens] per order.
        self_label: the target that is the document itself, or -1: never a negative.
        hard: [documents, m] hard negatives, -1 padded.
        label_texts: [targets, tokens] texts that are training documents of their target, behind the others.
        initial: [targets, tokens] the texts that refinement vectors are initialised with; None: zeros.
    """

    Y: csr_array
    texts: tuple[csr_array, ...]
    self_label: np.ndarray | None = None
    hard: np.ndarray | None = None
    initial: csr_array | None = None
    label_texts: csr_array | None = None

    @property
    def counts(self) -> np.ndarray:
        """Training documents per target."""
        return np.bincount(self.Y.indices, minlength=self.Y.shape[1])


class Classify(Task):
    """The loss of one module: documents against their positive targets and sampled negatives.

    Processes share a batch unless classifiers have attention, which needs the mean over all labels of the batch.
    """

    label_tables = ("refinement",)

    def __init__(
        self,
        network: Network,
        tokens: RowTable,
        refinement: RowTable | None,
        X: csr_array,
        targets: Targets,
        loss: Loss,
        negatives: NegativesConfig,
        tail_weight: float = 0.0,
        batch_size: int = 255,
        kept_tokens: float = 1.0,
        validation: Callable[[], Mapping[str, float] | None] = lambda: None,
    ) -> None:
        self.module = network
        self.network = network
        self.splits = network.attention is None
        self.tokens, self.refinement = tokens, refinement
        self.targets, self.n_real, self.kept_tokens = targets, X.shape[0], kept_tokens
        Y, self_label, hard = targets.Y, targets.self_label, targets.hard
        if targets.label_texts is not None:
            X = csr_array(vstack([X, targets.label_texts]))
            Y = csr_array(vstack([Y, eye_array(Y.shape[1], dtype=np.float32)]))
            n_labels = Y.shape[1]
            if self_label is not None:
                self_label = np.concatenate([self_label, np.full(n_labels, -1)])
            if hard is not None:
                hard = np.concatenate([hard, np.full((n_labels, hard.shape[1]), -1, hard.dtype)])
        self.X = X
        self.n_documents = X.shape[0]
        self.validation = validation
        self.shrinkage = network.shrinkage(targets.counts)
        self.loss_function = LabelLoss(loss, targets.counts, tail_weight=tail_weight)
        self.sampler = BatchSampler(
            Y,
            self_label=self_label,
            hard=hard,
            n_hard=negatives.hard,
            n_random=negatives.random,
            corrected=negatives.corrected,
            scope=negatives.scope,
            batch_size=batch_size,
        )
        if loss == "bce":
            # Nearly all pairs are negative: starting there saves every token from learning it.
            network.bias.data.fill_(log_odds(targets.Y))
            network.bias.requires_grad_()

    def tables(self) -> Mapping[str, RowTable]:
        """Token embeddings and refinement vectors."""
        tables = {"tokens": self.tokens}
        return tables if self.refinement is None else {**tables, "refinement": self.refinement}

    def validate(self) -> Mapping[str, float] | None:
        """Metrics on validation documents."""
        return self.validation()

    def _documents(self, batch: Batch) -> csr_array:
        """The documents of a batch; those that are label texts with a part of their tokens."""
        X = self.X[batch.rows]
        if self.n_real == self.n_documents:
            return X
        drawn = np.random.default_rng(batch.seed + 2).random(X.nnz) < self.kept_tokens
        whole = np.repeat(batch.rows < self.n_real, np.diff(X.indptr))
        kept = whole | drawn
        ends = np.concatenate([[0], np.cumsum(kept)])[X.indptr]
        return unit_rows(csr_array((X.data[kept], X.indices[kept], ends), shape=X.shape))

    def loss(self, batch: Batch) -> torch.Tensor:
        """The mean loss of a batch over its sampled targets."""
        sampled, world, n = self.sampler.sample(batch), self.world, len(batch.rows)
        rows, own = world.rows(n), world.columns(sampled.columns)
        columns = sampled.columns[own]
        bags = Bags.of(self._documents(batch)[rows], *(text[columns] for text in self.targets.texts))
        tokens = self.tokens.take(bags.rows)
        refinement = None if self.refinement is None else self.refinement.take(columns)
        if refinement is not None:
            refinement = refinement * self.shrinkage[torch.from_numpy(columns)].to(self.device)
        with part_of(rows, n):
            documents = self.network.documents(bags.matrices[0], tokens)
        with part_of(own, len(sampled.columns)):
            classifiers, _ = self.network.classifiers(bags.matrices[1:], tokens, refinement)
        scores = world.gather_columns(world.gather_rows(documents, n) @ classifiers.T, sampled.columns)
        return self.loss_function(scores[rows] + self.network.bias, sampled.of_documents(rows))
