"""Settings of the dual encoder; importing them imports no torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from longtail.config import at_least_zero
from longtail.errors import ConfigError
from longtail.systems.base import SystemConfig
from longtail.training.dual_encoder_config import DualEncoderConfig
from longtail.training.train_config import TrainConfig


def _stage() -> TrainConfig:
    return TrainConfig(
        epochs=5, batch_size=256, lr=2e-3, schedule="linear", warmup=0.05, patience=2, watch="overall"
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelVectorConfig:
    """Vectors of labels that have training documents, learned on the vectors of documents."""

    learned: bool = True
    """Whether there are any; false: the text of a label is all that it is compared by."""
    shrinkage: float = 2.0
    """What is learned for a label of n documents is multiplied with n / (n + shrinkage), if it has a text."""
    loss: Literal["softmax", "grank"] = "softmax"
    """What is minimised."""
    temperature: float = 0.05
    """Inner products are divided by this in the loss."""
    random: int = 2000
    """Random labels that a batch is compared with, besides its positives and hard negatives."""
    hard: int = 5
    """Hard negatives per document and step, drawn from those that the initial vectors rank highest."""
    hard_from: int = 50
    """Labels nearest to a document that its hard negatives are drawn from."""
    train: TrainConfig = field(default_factory=_stage)
    """Epochs and learning rates."""

    def __post_init__(self) -> None:
        at_least_zero(self, "shrinkage", "random", "hard")
        if not self.temperature > 0:
            raise ConfigError(f"'temperature' must be above 0, not {self.temperature}")
        if self.hard_from < max(self.hard, 1):
            raise ConfigError(f"'hard_from' must be at least {max(self.hard, 1)}, not {self.hard_from}")


@dataclass(frozen=True, kw_only=True, slots=True)
class VoteConfig:
    """Votes of near training documents."""

    neighbours: int = 20
    """Nearest training documents whose labels count; 0: no votes, and no vectors of documents in the model."""
    power: float = 2.0
    """A neighbour counts with its cosine to this power."""

    def __post_init__(self) -> None:
        at_least_zero(self, "neighbours")
        if not 0 <= self.power <= 100:
            raise ConfigError(f"'power' must be from 0 to 100, not {self.power}")


@dataclass(frozen=True, kw_only=True, slots=True)
class DualConfig(SystemConfig):
    """Settings of the dual encoder."""

    highlights: ClassVar[tuple[str, ...]] = (
        "fields",
        "encoder.name",
        "encoder.tokens",
        "encoder.tune",
        "encoder.frozen",
        "encoder.memory",
        "encoder.hard",
        "encoder.self_pairs",
        "encoder.train.epochs",
        "encoder.train.lr",
        "encoder.train.batch_size",
        "encoder.train.device",
        "labels.learned",
        "labels.shrinkage",
        "labels.loss",
        "labels.train.epochs",
        "votes.neighbours",
    )

    encoder: DualEncoderConfig = field(default_factory=DualEncoderConfig)
    """The text encoder and its training."""
    labels: LabelVectorConfig = field(default_factory=LabelVectorConfig)
    """Label vectors."""
    votes: VoteConfig = field(default_factory=VoteConfig)
    """Votes of near training documents."""
