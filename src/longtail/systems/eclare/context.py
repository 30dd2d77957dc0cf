"""What the modules of one training of ECLARE share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch

from longtail.run import Run
from longtail.systems.eclare.config import EclareConfig, NegativesConfig
from longtail.systems.eclare.inputs import Inputs
from longtail.systems.eclare.model import Classify, Network
from longtail.training.checkpoint import Checkpoints
from longtail.training.rows import RowTable
from longtail.training.train_config import TrainConfig
from longtail.training.trainer import train as run_stage
from longtail.training.validation import ValidationSet


@dataclass(frozen=True, slots=True)
class TrainingContext:
    """What all modules share: settings, data, seed, progress and checkpoints."""

    config: EclareConfig
    inputs: Inputs
    validation: ValidationSet | None
    number: int
    run: Run
    checkpoints: Checkpoints | None = None

    @property
    def seed(self) -> int:
        """Each model has a seed of its own."""
        return self.config.seed + self.number

    @property
    def width(self) -> int:
        """D."""
        return self.config.width or (300 if self.inputs.Y.shape[1] < 400_000 else 512)

    def train(self, task: Classify, config: TrainConfig, stage: str) -> None:
        """Train one module; each model has stages of its own."""
        name = stage if self.number == 0 else f"{stage}-{self.number + 1}"
        run_stage(task, config, stage=name, seed=self.seed, run=self.run, checkpoints=self.checkpoints)

    def easy_negatives(self, of: Literal["clusters", "labels"]) -> NegativesConfig:
        """Negatives of Modules I and II: the positives of other documents and random ones."""
        negatives = self.config.negatives
        drawn = negatives.random_clusters if of == "clusters" else negatives.random
        return replace(negatives, scope="batch", random=drawn)

    def network(self, *, refinement: bool) -> Network:
        """A new network; its random weights depend on the seed alone."""
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            return Network(
                self.width, self.config.classifier, refinement=refinement, dropout=self.config.dropout
            )

    def new_tokens(self) -> RowTable:
        """Random token embeddings (He et al., 2015), scaled."""
        rng = np.random.default_rng(self.seed)
        std = self.config.token_scale * np.sqrt(2 / self.width)
        return RowTable(
            rng.standard_normal((self.inputs.X.shape[1], self.width), np.float32) * np.float32(std)
        )
