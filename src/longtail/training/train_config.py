"""Settings of one training stage; importing them does not import torch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from longtail.errors import ConfigError

Loss = Literal["bce", "grank", "softmax"]
"""What a stage minimises, each a file of ``losses/``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainConfig:
    """How long and how fast a stage learns, and when it stops."""

    epochs: int
    """Times that the training documents are gone through."""
    batch_size: int = 255
    """Documents between two updates of the weights."""
    lr: float
    """Learning rate at its highest."""
    row_lr: float | None = None
    """Learning rate of the large tables, of which a batch touches few rows; none: the same as lr."""
    optimiser: Literal["adam", "radam"] = "adam"
    """adam, or radam: its first steps are small while little is known of the gradients; tables: always adam."""
    schedule: Literal["step", "cosine", "linear", "constant"] = "step"
    """step: the rate is halved at the shares in decay_at; cosine, linear: it falls to nothing along a curve or
    a line; constant: it stays."""
    decay_at: tuple[float, ...] = (0.5, 0.75)
    """Shares of the stage after which the rate is halved (schedule step)."""
    warmup: float = 0.0
    """Share of the stage in which the rate climbs from nothing to its full height."""
    weight_decay: float = 0.0
    """Share of each weight that is taken off, times the learning rate (as in AdamW); of a table, touched rows
    only."""
    clip_norm: float | None = None
    """Longer gradients (all weights and tables together) are shortened to this length; none: they are not."""
    accumulate: int = 1
    """Pieces a batch is cut into and worked on one after the other: less memory, the same update."""
    validate_every: int = 1
    """Epochs between two validations, where there is validation data."""
    patience: int = 0
    """Validations without a better metric after which the stage ends early; 0: it never does."""
    watch: str = "P@1"
    """The validation metric (higher is better) whose best epoch is kept."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """bfloat16: matrix products of training in half the bits, on a processor those of encoders; auto: on a graphics
    card or a processor with instructions for it, float32 elsewhere."""
    device: str = "auto"
    """cpu, cuda or cuda:1; auto: a graphics card if there is one."""

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "accumulate", "validate_every"):
            if getattr(self, name) < 1:
                raise ConfigError(f"'{name}' must be at least 1, not {getattr(self, name)}")
        for name in ("lr", "row_lr", "clip_norm"):
            value = getattr(self, name)
            if value is not None and not (value > 0 and math.isfinite(value)):
                raise ConfigError(f"'{name}' must be above 0, not {value}")
        if not all(0 < share < 1 for share in self.decay_at):
            raise ConfigError(f"'decay_at' must be shares between 0 and 1, not {list(self.decay_at)}")
        if not 0 <= self.warmup < 1:
            raise ConfigError(f"'warmup' must be from 0 to below 1, not {self.warmup}")
        if not (self.weight_decay >= 0 and math.isfinite(self.weight_decay)):
            raise ConfigError(f"'weight_decay' must be at least 0, not {self.weight_decay}")
        if self.accumulate > self.batch_size:
            raise ConfigError(
                f"'accumulate' must be at most the batch_size {self.batch_size}, not {self.accumulate}"
            )
        if self.patience < 0:
            raise ConfigError(f"'patience' must be at least 0, not {self.patience}")
        if not self.watch:
            raise ConfigError("'watch' must be the name of a validation metric")
        kind, _, number = self.device.partition(":")
        if kind not in ("auto", "cpu", "cuda") or (number and not (kind == "cuda" and number.isdecimal())):
            raise ConfigError(f"'device' must be auto, cpu, cuda or cuda:NUMBER, not {self.device!r}")
