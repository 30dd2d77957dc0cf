"""A task needs weights and a loss; the rest is there."""

from __future__ import annotations

import pytest
import torch

from longtail.run import Run
from longtail.training.task import Batch, Task
from longtail.training.train_config import TrainConfig
from longtail.training.trainer import train


class Least(Task):
    def __init__(self) -> None:
        self.module = torch.nn.Linear(1, 1)
        self.n_documents = 10

    def loss(self, batch: Batch) -> torch.Tensor:
        numbers = torch.from_numpy(batch.rows).float()[:, None]
        loss: torch.Tensor = (self.module(numbers) - 2 * numbers).square().mean()
        return loss


def test_a_module_and_a_loss_are_enough() -> None:
    task = Least()
    config = TrainConfig(epochs=200, batch_size=5, lr=0.1)
    result = train(task, config, stage="fit", seed=0, run=Run())
    assert result.history[-1].loss < 0.1
    assert (dict(task.tables()), task.validate(), dict(task.state())) == ({}, None, {})
    task.restore({})


def test_a_task_without_loss_is_none() -> None:
    with pytest.raises(TypeError, match="loss"):
        Task()
