"""What a system gives to the trainer: weights, and the loss of a batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping

import numpy as np
import torch

from longtail.training.batches import Batch
from longtail.training.distributed import World
from longtail.training.rows import RowTable

__all__ = ["Batch", "Task"]


class Hooks:
    """What a task may do beyond its loss; nothing by default."""

    def tables(self) -> Mapping[str, RowTable]:
        """Large matrices of which a batch touches few rows, by name; the same objects at each call."""
        return {}

    def rate(self, parameter: str) -> float:
        """What the learning rate of a parameter of the module is multiplied with, by its name.

        A table is asked for as ``table/NAME``.
        """
        return 1.0

    def on_epoch_start(self, epoch: int) -> None:
        """Prepare an epoch (from 0), as by mining negatives again; torch is seeded already."""

    def validate(self) -> Mapping[str, float] | None:
        """Metrics on validation data (without gradients, the module in eval mode); None: there are none."""
        return None

    def state(self) -> Mapping[str, np.ndarray]:
        """What else lasts from one epoch to the next (negatives of an earlier epoch), for checkpoints."""
        return {}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take back what ``state`` gave, in a process that goes on."""


class Task(Hooks, ABC):
    """One stage's model and loss. The trainer owns everything else: order, updates, precision, checkpoints."""

    module: torch.nn.Module
    """The small dense weights, all of them updated at each step."""
    n_documents: int
    """Documents that an epoch goes through."""
    lengths: np.ndarray | None = None
    """How long each document is, where documents of alike length should share a batch; None: any may."""
    device: torch.device = torch.device("cpu")
    """Where the weights are during training (set by the trainer): inputs of the module belong there."""
    splits: bool = False
    """Whether the loss is split over processes by ``world``; if not, each process computes all of it."""
    label_tables: Collection[str] = ()
    """Tables with one row per label: a process takes the rows of its own labels alone, and only updates those."""
    world: World = World()
    """The processes that share a batch (set by the trainer); one alone unless the task splits its loss."""

    @abstractmethod
    def loss(self, batch: Batch) -> torch.Tensor:
        """The mean loss over the documents of the batch, a scalar; a task that splits has those of this process."""
