"""Settings of a stage: what makes no sense is refused by name."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from longtail.config import from_dict, to_dict
from longtail.errors import ConfigError
from longtail.training.train_config import TrainConfig


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("epochs", 0),
        ("batch_size", 0),
        ("lr", 0.0),
        ("lr", float("nan")),
        ("lr", float("inf")),
        ("row_lr", -1.0),
        ("decay_at", (0.5, 1.0)),
        ("warmup", 1.0),
        ("weight_decay", -0.1),
        ("clip_norm", 0.0),
        ("accumulate", 0),
        ("accumulate", 256),
        ("validate_every", 0),
        ("patience", -1),
        ("watch", ""),
        ("device", "tpu"),
        ("device", "cpu:1"),
        ("device", "cuda:x"),
    ],
)
def test_a_wrong_value_names_its_field(field: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"^'{field}' must "):
        TrainConfig(**{"epochs": 2, "lr": 0.1, field: value})


@pytest.mark.parametrize("key", ["schedule", "precision", "optimiser"])
def test_a_choice_that_there_is_not(key: str) -> None:
    with pytest.raises(ConfigError, match=f"'{key}' must be one of"):
        from_dict(TrainConfig, {"epochs": 1, "lr": 0.1, key: "odd"})


def test_there_and_back() -> None:
    config = TrainConfig(epochs=3, lr=0.1, row_lr=0.2, decay_at=(0.25,), device="cuda:1")
    assert from_dict(TrainConfig, to_dict(config)) == config


def test_epochs_and_lr_have_no_default() -> None:
    with pytest.raises(ConfigError, match="the configuration key 'lr' is missing"):
        from_dict(TrainConfig, {"epochs": 3})


def test_it_does_not_need_torch() -> None:
    script = (
        "import sys; from longtail.training import checkpoint, train_config; sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0
