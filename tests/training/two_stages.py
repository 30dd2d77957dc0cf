"""Two stages with checkpoints in a process of its own, which can wait at a known moment to be killed.

``python -m tests.training.two_stages FOLDER READY`` keeps checkpoints in FOLDER. In the middle of the third epoch
of the second stage the process touches the file READY, and waits.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from longtail import threads
from longtail.run import Run
from longtail.training.batches import Batch
from longtail.training.checkpoint import Checkpoints
from longtail.training.rows import RowTable
from longtail.training.train_config import TrainConfig
from longtail.training.trainer import train
from tests.training.tasks import Words, everything

FINGERPRINT = {"data": "abc", "settings": {"lr": 0.05}}
WAIT_AT = 10


class Second(Words):
    """Starts from the first stage's vectors, now frozen; bonuses that are drawn every other epoch shift labels."""

    def __init__(self, first: Words) -> None:
        super().__init__(dropout=0.2)
        first.vectors.frozen = True
        self.vectors = first.vectors
        self.shifts = RowTable(np.zeros((4, 4), np.float32))
        self.bonus = np.zeros(4, np.float32)

    def tables(self) -> Mapping[str, RowTable]:
        return {"vectors": self.vectors, "shifts": self.shifts}

    def on_epoch_start(self, epoch: int) -> None:
        super().on_epoch_start(epoch)
        if epoch % 2 == 0:
            self.bonus = torch.rand(4).numpy()

    def state(self) -> Mapping[str, np.ndarray]:
        return {"bonus": self.bonus}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        self.bonus = state["bonus"]

    def loss(self, batch: Batch) -> torch.Tensor:
        rows = np.unique(np.random.default_rng(batch.seed).integers(4, size=2))
        shift = (self.shifts.take(rows) * torch.from_numpy(self.bonus)).tanh().sum()
        return super().loss(batch) + shift

    def validate(self) -> Mapping[str, float]:
        # Best after the second of five epochs, which the process that is killed does not know any more.
        return {"P@1": [0.1, 0.9, 0.3, 0.4, 0.2][self.epochs[-1]]}


def run_both(folder: Path | None, ready: Path | None = None, run: Run | None = None) -> bytes:
    """All weights in the end; without ``folder`` nothing is kept on the way."""
    checkpoints = None if folder is None else Checkpoints(folder, FINGERPRINT, share=1.0)
    config, run = TrainConfig(epochs=5, batch_size=16, lr=0.05), run or Run()
    first = Words(dropout=0.2)
    train(first, config, stage="embed", seed=3, run=run, checkpoints=checkpoints)
    second = Second(first)

    def wait(batch: Batch) -> None:
        if ready is not None and batch.step == WAIT_AT:
            ready.touch()
            time.sleep(600)

    second.before_loss = wait
    train(second, config, stage="rank", seed=3, run=run, checkpoints=checkpoints)
    return everything(first) + first.vectors.weight.numpy().tobytes() + everything(second)


if __name__ == "__main__":
    with threads.limit(1):
        run_both(Path(sys.argv[1]), Path(sys.argv[2]))
