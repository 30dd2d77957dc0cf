"""Label vectors, learned on frozen vectors of documents: frequent labels become classifiers.

Label vector   v_l = t_l + n_l / (n_l + s) r_l, with the text vector t_l, n_l documents and the learned r_l; r_l
               starts as the mean of the label's documents; a label without text has t_l = 0 and the weight 1
Score          x . v_l / temperature
Loss           softmax (or GRank) over positives, hard negatives and random labels

A label without documents keeps its text vector: others learn to stand above or below it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.systems.dual.config import LabelVectorConfig
from longtail.training.dual_encoder import hard_negatives
from longtail.training.label_loss import LabelLoss
from longtail.training.rows import RowTable
from longtail.training.sampled_negatives import BatchSampler
from longtail.training.task import Batch, Task


def learned_share(counts: np.ndarray, text: np.ndarray, shrinkage: float) -> np.ndarray:
    """The weight of what is learned for each label, float32 [L].

    Shapes:
        counts [L], text [L, D] with zeros for a label without text
    """
    share = counts / np.maximum(counts + shrinkage, 1e-9)
    return np.where(text.any(axis=1), share, counts > 0).astype(np.float32)


def document_means(X: np.ndarray, Y: csr_array) -> np.ndarray:
    """The mean vector of each label's documents, zeros without any, float32 [L, D]."""
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    return np.asarray((Y.T @ X) / np.maximum(counts, 1)[:, None], np.float32)


class LabelVectorTask(Task):
    """The vectors of labels over documents that do not change.

    Args:
        X: unit vectors of the documents [n, D].
        text: text vectors of the labels [L, D].
        known: documents x labels that are no negatives: Y, and the label that a document is itself.
        metrics: of label vectors [L, D] on validation documents.
    """

    def __init__(
        self,
        X: np.ndarray,
        text: np.ndarray,
        Y: csr_array,
        known: csr_array,
        self_label: np.ndarray,
        config: LabelVectorConfig,
        metrics: Callable[[np.ndarray], Mapping[str, float] | None] = lambda vectors: None,
    ) -> None:
        self.module = torch.nn.Module()
        self.config, self.metrics = config, metrics
        self.n_documents = len(X)
        counts = np.bincount(Y.indices, minlength=Y.shape[1])
        self.X, self.text = torch.from_numpy(X), torch.from_numpy(text)
        self.share = torch.from_numpy(learned_share(counts, text, config.shrinkage))
        self.rest = RowTable(document_means(X, Y))
        hard = hard_negatives(X, self.vectors(), known, config.hard_from) if config.hard else None
        self.sampler = BatchSampler(
            Y,
            self_label=self_label,
            hard=hard,
            n_hard=config.hard,
            n_random=config.random,
            corrected=True,
            batch_size=config.train.batch_size,
        )
        self.compare = LabelLoss(config.loss, counts)

    def tables(self) -> Mapping[str, RowTable]:
        """What is learned."""
        return {"labels": self.rest}

    def vectors(self) -> np.ndarray:
        """The vectors of all labels as they are now [L, D]."""
        return (self.text + self.share[:, None] * self.rest.weight.cpu()).numpy()

    def validate(self) -> Mapping[str, float] | None:
        """Metrics on validation documents."""
        return self.metrics(self.vectors())

    def loss(self, batch: Batch) -> torch.Tensor:
        """Of documents against sampled labels."""
        sampled = self.sampler.sample(batch)
        columns = torch.from_numpy(sampled.columns)
        text, share = (part[columns].to(self.device) for part in (self.text, self.share))
        vectors = text + share[:, None] * self.rest.take(sampled.columns)
        documents = self.X[torch.from_numpy(batch.rows)].to(self.device)
        return self.compare(documents @ vectors.T / self.config.temperature, sampled)
