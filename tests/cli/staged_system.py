"""A system that trains in two stages, and the command line with it: for stops at a known moment.

Run as ``python -m tests.cli.staged_system train ...``. With READY in the environment, the file of that name
appears in the middle of the second stage, where the process then waits.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch

from longtail import config as configuration
from longtail.run import Run
from longtail.storage import VerifiedFolder, read_arrays, write_arrays
from longtail.systems import REGISTRY
from longtail.systems.base import SystemConfig
from longtail.systems.dummy import Dummy
from longtail.text.feature_store import FeatureStore
from longtail.text.shared_features import FeatureReader, FeatureWriter
from longtail.training.checkpoint import open_for
from longtail.training.rows import RowTable
from longtail.training.task import Batch, Task
from longtail.training.train_config import TrainConfig
from longtail.training.trainer import train
from longtail.types import Dataset

PLACE = "tests.cli.staged_system:Staged"


class Shares(Task):
    """Trains one number per document: how many labels it has."""

    def __init__(self, counts: np.ndarray, wait: bool) -> None:
        self.n_documents = len(counts)
        self.counts = torch.from_numpy(counts.astype(np.float32))
        self.table = RowTable(np.zeros((len(counts), 1), np.float32))
        self.module = torch.nn.Identity()
        self.wait = wait

    def tables(self) -> Mapping[str, RowTable]:
        return {"numbers": self.table}

    def loss(self, batch: Batch) -> torch.Tensor:
        if self.wait and batch.step == 5 and "READY" in os.environ:
            Path(os.environ["READY"]).touch()
            time.sleep(600)
        rows = np.sort(batch.rows)
        return (self.table.take(rows)[:, 0] - self.counts[torch.from_numpy(rows)]).square().mean()


class Staged(Dummy):
    """The dummy, after two training stages that it makes no use of."""

    name: ClassVar[str] = "staged"

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(SystemConfig):
        lr: float = 0.1
        """Learning rate."""

    config: Config

    def _fit(self, train_set: Dataset, valid: Dataset | None, run: Run, store: FeatureStore) -> None:
        fingerprint = {"data": train_set.fingerprint(), "settings": configuration.to_dict(self.config)}
        checkpoints = open_for(run, fingerprint)
        if checkpoints is not None:
            checkpoints.share = 1.0
        counts = np.diff(train_set.Y.indptr)
        config = TrainConfig(epochs=3, batch_size=16, lr=self.config.lr)
        for stage in ("first", "second"):
            task = Shares(counts, wait=stage == "second")
            train(task, config, stage=stage, seed=self.config.seed, run=run, checkpoints=checkpoints)
        self.numbers_ = task.table.weight.numpy()
        super()._fit(train_set, valid, run, store)

    def _save_parts(self, folder: Path, features: FeatureWriter) -> None:
        write_arrays(folder / "numbers.safetensors", {"numbers": self.numbers_})

    def _load_parts(self, folder: VerifiedFolder, features: FeatureReader) -> None:
        super()._load_parts(folder, features)
        self.numbers_ = read_arrays(folder.path("numbers.safetensors"))["numbers"]


if __name__ == "__main__":
    from longtail.cli.main import main

    REGISTRY["staged"] = PLACE
    sys.exit(main())
