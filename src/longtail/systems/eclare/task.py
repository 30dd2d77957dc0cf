"""One module's training: documents against the classifiers of clusters (Modules I, II) or of labels (IV)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.blocks.sparse_product import Bags
from longtail.systems.common.label_loss import LabelLoss, log_odds
from longtail.systems.common.settings import Loss
from longtail.systems.eclare.config import NegativesConfig
from longtail.systems.eclare.network import Network
from longtail.training.rows import RowTable
from longtail.training.task import Batch, Task


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
        self.validation = validation
        self.trust = network.trust(targets.counts)
        self.loss_function = LabelLoss(
            targets.Y,
            loss,
            own=targets.own,
            hard=targets.hard,
            few=negatives.hard,
            random=negatives.random,
            corrected=negatives.corrected,
            scope=negatives.scope,
            tail_weight=tail_weight,
            batch_size=batch_size,
        )
        if loss == "bce":
            # Nearly all answers are no. The texts would learn that slowly, each token for itself.
            network.bias.data.fill_(log_odds(targets.Y))
            network.bias.requires_grad_()

    def tables(self) -> Mapping[str, RowTable]:
        """Token embeddings and refinement vectors."""
        tables = {"tokens": self.tokens}
        return tables if self.refinement is None else {**tables, "refinement": self.refinement}

    def validate(self) -> Mapping[str, float] | None:
        """Figures on validation documents."""
        return self.validation()

    def loss(self, batch: Batch) -> torch.Tensor:
        """The mean loss of some documents over the targets in question."""
        question = self.loss_function.draw(batch, self.device)
        columns = question.columns
        bags = Bags.of(self.X[batch.rows], *(text[columns] for text in self.targets.texts))
        tokens = self.tokens.take(bags.rows)
        refinement = None if self.refinement is None else self.refinement.take(columns)
        if refinement is not None:
            refinement = refinement * self.trust[question.labels].to(self.device)
        documents = self.network.documents(bags.matrices[0], tokens)
        classifiers, _ = self.network.classifiers(bags.matrices[1:], tokens, refinement)
        return self.loss_function(documents @ classifiers.T + self.network.bias, question)
