"""The learning rate over a stage: a function of the step alone, so that a resumed stage needs no state of it."""

from __future__ import annotations

import math

from longtail.training.train_config import TrainConfig


def rate_factor(config: TrainConfig, step: int, total: int) -> float:
    """What the learning rate is multiplied with at ``step`` (from 0) of ``total`` steps."""
    climb = config.warmup * total
    if step + 1 < climb:
        return (step + 1) / climb
    done = step / total
    match config.schedule:
        case "step":
            return float(0.5 ** sum(done >= share for share in config.decay_at))
        case "cosine":
            return 0.5 * (1 + math.cos(math.pi * max(0.0, step - climb) / (total - climb)))
        case "linear":
            return 1 - max(0.0, step - climb) / (total - climb)
        case _:
            return 1.0
