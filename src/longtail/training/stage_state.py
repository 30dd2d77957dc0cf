"""How far a stage has come: epochs, their losses and metrics, the best one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class EpochRecord:
    """What one epoch came to."""

    epoch: int
    """From 0."""
    loss: float
    """Mean over the documents."""
    metrics: dict[str, float] = field(default_factory=dict)
    """Validation metrics; empty where there was no validation."""


@dataclass(slots=True)
class StageResult:
    """A stage's history; ``best_epoch`` (from 0) is the one whose weights were kept, None without validation."""

    history: list[EpochRecord] = field(default_factory=list)
    best_epoch: int | None = None

    @property
    def epochs(self) -> int:
        """Epochs done."""
        return len(self.history)

    def best_metric(self, watch: str) -> float | None:
        """The watched metric of the best epoch."""
        return None if self.best_epoch is None else self.history[self.best_epoch].metrics[watch]

    def fruitless(self) -> int:
        """Validations since the best one."""
        if self.best_epoch is None:
            return 0
        return sum(bool(record.metrics) for record in self.history[self.best_epoch + 1 :])

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        history = [{"epoch": r.epoch, "loss": r.loss, "metrics": r.metrics} for r in self.history]
        return {"history": history, "best_epoch": self.best_epoch}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> StageResult:
        """What ``as_dict`` gave."""
        return cls([EpochRecord(**record) for record in data["history"]], data["best_epoch"])
