"""Small real tasks: which of a few classes a document's feature rows speak for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch

from longtail.training.rows import RowTable
from longtail.training.task import Batch, Task

WIDTH = 6
CLASSES = 4


class Words(Task):
    """Documents are three words each; a table of word vectors, a linear layer over their mean."""

    def __init__(
        self, n_documents: int = 60, n_words: int = 40, *, seed: int = 0, dropout: float = 0.0
    ) -> None:
        rng = np.random.default_rng(seed)
        self.n_documents = n_documents
        self.words = rng.integers(n_words, size=(n_documents, 3))
        self.target = torch.from_numpy(self.words[:, 0] % CLASSES)
        generator = torch.Generator().manual_seed(seed)
        self.vectors = RowTable(torch.randn(n_words, WIDTH, generator=generator) * 0.1)
        self.module = torch.nn.Linear(WIDTH, CLASSES)
        with torch.no_grad():
            self.module.weight.copy_(torch.randn(CLASSES, WIDTH, generator=generator) * 0.1)
            self.module.bias.zero_()
        self.dropout = dropout
        self.seen: list[Batch] = []
        self.epochs: list[int] = []
        self.before_loss: Callable[[Batch], None] = lambda batch: None

    def tables(self) -> Mapping[str, RowTable]:
        return {"vectors": self.vectors}

    def on_epoch_start(self, epoch: int) -> None:
        self.epochs.append(epoch)

    def loss(self, batch: Batch) -> torch.Tensor:
        self.before_loss(batch)
        self.seen.append(batch)
        rows, places = np.unique(self.words[batch.rows], return_inverse=True)
        means = self.vectors.take(rows)[torch.from_numpy(places.reshape(-1, 3))].mean(1)
        means = torch.nn.functional.dropout(means, self.dropout)
        return torch.nn.functional.cross_entropy(
            self.module(means), self.target[torch.from_numpy(batch.rows)]
        )

    def accuracy(self) -> float:
        means = self.vectors.weight[torch.from_numpy(self.words)].mean(1)
        return float((self.module(means).argmax(1) == self.target).float().mean())


class Scripted(Words):
    """Validation metrics come from a list, one an epoch."""

    def __init__(self, metrics: list[float]) -> None:
        super().__init__()
        self.metrics = list(metrics)

    def validate(self) -> Mapping[str, float] | None:
        assert not torch.is_grad_enabled()
        assert not self.module.training
        return {"P@1": self.metrics[len(self.epochs) - 1], "other": 0.0}


def everything(task: Task) -> bytes:
    """All weights as bytes."""
    from longtail.training.weights import weights_of

    arrays = weights_of(task)
    return b"".join(name.encode() + arrays[name].tobytes() for name in sorted(arrays))
