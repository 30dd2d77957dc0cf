"""Settings of the dual encoder's training."""

from __future__ import annotations

from typing import Any

import pytest

from longtail.config import from_dict, to_dict
from longtail.errors import ConfigError
from longtail.training.dual_encoder_config import DualEncoderConfig


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tokens", 2),
        ("dropout", 1.0),
        ("temperature", 0.0),
        ("rare", 1.5),
        ("memory", -1),
        ("memory_weight", -1.0),
        ("hard", -1),
        ("hard_from", 0),
        ("frozen", -1),
    ],
)
def test_a_wrong_value_names_its_field(field: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"'{field}' must "):
        from_dict(DualEncoderConfig, {field: value})


def test_hard_negatives_are_drawn_from_enough() -> None:
    with pytest.raises(ConfigError, match="'hard_from' must be at least 6, not 5"):
        DualEncoderConfig(hard=6, hard_from=5)


def test_there_and_back() -> None:
    config = DualEncoderConfig()
    assert from_dict(DualEncoderConfig, to_dict(config)) == config
