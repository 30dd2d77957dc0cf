"""Settings of the dual encoder's training; importing them does not import torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from longtail.config import at_least_zero
from longtail.errors import ConfigError
from longtail.training.train_config import TrainConfig


def _stage() -> TrainConfig:
    return TrainConfig(epochs=2, batch_size=128, lr=1e-4, schedule="linear", warmup=0.05, clip_norm=5.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class DualEncoderConfig:
    """How an encoder is trained on pairs of a document and a label text."""

    name: str = "minilm"
    """The folder of a transformer with its tokenizer, or minilm."""
    tokens: int = 64
    """Tokens per text that are read."""
    tune: bool = True
    """Whether the encoder is trained; false: it is used as it is, as one that was trained before."""
    dropout: float = 0.0
    """Dropout rate within the encoder; above 0, a training step without a graphics card takes twice as long."""
    frozen: int | None = None
    """Lower layers that are not trained, with the embeddings below them; none: everything is trained."""
    temperature: float = 0.05
    """Cosines are divided by this in the loss."""
    rare: float = 0.25
    """One positive label of a document is drawn per step; a label of n documents with the weight n ** -rare."""
    memory: int = 50_000
    """Labels whose last vectors documents are compared with besides the batch; where more have been read, so many
    are drawn per step. 0: the labels of the batch alone."""
    memory_weight: float = 1.0
    """Weight of the loss over the memory; that over the batch counts 1."""
    hard: int = 0
    """Hard negatives per document and step that are encoded with the batch. They are found anew before each epoch
    but the first, by exact search with the encoder as it is then."""
    hard_from: int = 50
    """Labels nearest to a document that its hard negatives are drawn from."""
    self_pairs: Literal["none", "cold", "all"] = "none"
    """Labels whose text is a training document of its own label as well: cold: those without training documents;
    all: every label. A label that is a training document itself (same id) is left out."""
    train: TrainConfig = field(default_factory=_stage)
    """Epochs and learning rates."""

    def __post_init__(self) -> None:
        at_least_zero(self, "memory", "memory_weight", "hard")
        if self.tokens < 3:
            raise ConfigError(f"'tokens' must be at least 3, not {self.tokens}")
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"'dropout' must be from 0 to below 1, not {self.dropout}")
        if not self.temperature > 0:
            raise ConfigError(f"'temperature' must be above 0, not {self.temperature}")
        if not 0 <= self.rare <= 1:
            raise ConfigError(f"'rare' must be from 0 to 1, not {self.rare}")
        if self.hard_from < max(self.hard, 1):
            raise ConfigError(f"'hard_from' must be at least {max(self.hard, 1)}, not {self.hard_from}")
        if self.frozen is not None:
            at_least_zero(self, "frozen")
