"""One module's training: documents against the classifiers of clusters (Modules I, II) or of labels (IV)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.blocks.sparse_product import Bags
from longtail.losses.bce import bce
from longtail.losses.grank import grank
from longtail.losses.softmax import softmax
from longtail.systems.eclare.config import Loss, NegativesConfig
from longtail.systems.eclare.network import Network
from longtail.training.rows import RowTable
from longtail.training.task import Batch, Task

LOSSES = {"bce": bce, "grank": grank, "softmax": softmax}


@dataclass(frozen=True, slots=True)
class Targets:
    """What is to be predicted: clusters or labels.

    Attributes:
        Y: [documents, targets].
        texts: the text of each target and of its neighbours, one matrix [targets, tokens] an order.
        own: the target that is the document itself, or -1: never a wrong answer to learn from.
        hard: [documents, m] wrong targets that look right, -1 padded.
        start: [targets, tokens] the texts that refinement vectors start as; None: they start as zeros.
    """

    Y: csr_array
    texts: tuple[csr_array, ...]
    own: np.ndarray | None = None
    hard: np.ndarray | None = None
    start: csr_array | None = None

    @property
    def counts(self) -> np.ndarray:
        """Training documents of each target."""
        return np.bincount(self.Y.indices, minlength=self.Y.shape[1])


class Classify(Task):
    """Learns which targets a document has, from its positives and a sample of its negatives."""

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
        validation: Callable[[], Mapping[str, float] | None] = lambda: None,
    ) -> None:
        self.module = network
        self.network = network
        self.tokens, self.refinement = tokens, refinement
        self.X, self.targets = X, targets
        self.n_documents = X.shape[0]
        self.loss_function = LOSSES[loss]
        self.negatives = negatives
        self.batch_size = batch_size
        self.validation = validation
        counts = targets.counts
        self.trust = network.trust(counts)
        weight = -tail_weight * np.log(np.maximum(counts, 1)).astype(np.float32)
        # Each label is a question of its own in the cross entropy: sampling its negatives shifts the odds of the
        # positives as well.
        self.shifts_all = loss == "bce"
        corrected = negatives.corrected
        self.offset = torch.from_numpy(-np.log(self._chance_in_batch(counts))) if corrected else None
        if loss == "bce":
            # Nearly all answers are no. The texts would learn that slowly, each token for itself.
            network.bias.data.fill_(_log_odds(targets.Y))
            network.bias.requires_grad_()
        self.log_weight = torch.from_numpy(weight) if tail_weight else None

    def tables(self) -> Mapping[str, RowTable]:
        """Token embeddings and refinement vectors."""
        tables = {"tokens": self.tokens}
        return tables if self.refinement is None else {**tables, "refinement": self.refinement}

    def validate(self) -> Mapping[str, float] | None:
        """Figures on validation documents."""
        return self.validation()

    def loss(self, batch: Batch) -> torch.Tensor:
        """The mean loss of some documents over the targets in question."""
        Y = self.targets.Y[batch.rows]
        hard = self._hard_negatives(batch)
        columns = self._columns(Y, hard, batch)
        positive, negative = self._groups(Y, hard, columns, batch.rows)
        bags = Bags.of(self.X[batch.rows], *(text[columns] for text in self.targets.texts))
        tokens = self.tokens.take(bags.rows)
        refinement = None if self.refinement is None else self.refinement.take(columns)
        if refinement is not None:
            refinement = refinement * self.trust[torch.from_numpy(columns)].to(self.device)
        documents = self.network.documents(bags.matrices[0], tokens)
        classifiers, _ = self.network.classifiers(bags.matrices[1:], tokens, refinement)
        scores = documents @ classifiers.T + self.network.bias
        if self.offset is not None:
            offset = self.offset[torch.from_numpy(columns)].to(self.device)
            scores = scores + (offset if self.shifts_all else offset * negative)
        weight = (
            None if self.log_weight is None else self.log_weight[torch.from_numpy(columns)].to(self.device)
        )
        return self.loss_function(scores, positive, negative, weight).mean()

    def _chance_in_batch(self, counts: np.ndarray) -> np.ndarray:
        """How likely each target is scored in a batch: as a positive of a document, or drawn at random."""
        batch, width = self.batch_size, len(counts)
        if self.negatives.random >= width:
            return np.ones(width, np.float32)
        absent = np.log1p(-np.minimum(counts / max(self.n_documents, 1), 0.999)) * batch
        absent += np.log1p(-1 / max(width, 2)) * self.negatives.random
        return np.asarray(np.maximum(-np.expm1(absent), 1e-6), np.float32)

    def _hard_negatives(self, batch: Batch) -> np.ndarray | None:
        """A few of each document's hard negatives [n, few], -1 padded."""
        hard, few = self.targets.hard, self.negatives.hard
        if hard is None or not few:
            return None
        rows: np.ndarray = hard[batch.rows]
        if rows.shape[1] <= few:
            return rows
        chosen = np.random.default_rng(batch.seed).random(rows.shape).argpartition(few, axis=1)[:, :few]
        return np.take_along_axis(rows, chosen, axis=1)

    def _columns(self, Y: csr_array, hard: np.ndarray | None, batch: Batch) -> np.ndarray:
        """The targets that are scored in this batch, each once."""
        width = Y.shape[1]
        used = np.zeros(width, bool)
        used[Y.indices] = True
        if hard is not None:
            used[hard[hard >= 0]] = True
        if self.negatives.random >= width:
            used[:] = True
        else:
            used[np.random.default_rng(batch.seed + 1).integers(0, width, self.negatives.random)] = True
        return np.flatnonzero(used)

    def _groups(
        self, Y: csr_array, hard: np.ndarray | None, columns: np.ndarray, rows: np.ndarray
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Which of the columns are right and which are wrong for each document [n, columns]."""
        place = np.full(Y.shape[1], -1)
        place[columns] = np.arange(len(columns))
        positive = np.zeros((len(rows), len(columns)), bool)
        positive[np.repeat(np.arange(len(rows)), np.diff(Y.indptr)), place[Y.indices]] = True
        if self.negatives.scope == "own" and hard is not None:
            negative = np.zeros_like(positive)
            documents, slots = np.nonzero(hard >= 0)
            negative[documents, place[hard[documents, slots]]] = True
            negative &= ~positive
        else:
            negative = ~positive
        if self.targets.own is not None:
            own = self.targets.own[rows]
            inside = np.flatnonzero((own >= 0) & (place[own] >= 0))
            negative[inside, place[own[inside]]] = False
        return torch.from_numpy(positive).to(self.device), torch.from_numpy(negative).to(self.device)


def _log_odds(Y: csr_array) -> float:
    """The logarithm of yes to no over all questions."""
    yes, all_ = max(Y.nnz, 1), Y.shape[0] * Y.shape[1]
    return float(np.log(yes / max(all_ - yes, 1)))
