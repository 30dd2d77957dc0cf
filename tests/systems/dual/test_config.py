"""Settings: what makes no sense is refused by name."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from longtail.config import from_dict, to_dict
from longtail.errors import ConfigError
from longtail.systems.dual.config import DualConfig


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"labels": {"shrinkage": -1.0}}, "shrinkage"),
        ({"labels": {"random": -1}}, "random"),
        ({"labels": {"hard": -1}}, "hard"),
        ({"labels": {"hard": 60}}, "hard_from"),
        ({"labels": {"temperature": 0.0}}, "temperature"),
        ({"votes": {"neighbours": -1}}, "neighbours"),
        ({"votes": {"power": -1.0}}, "power"),
        ({"encoder": {"tokens": 1}}, "tokens"),
    ],
)
def test_a_wrong_value_names_its_field(settings: dict[str, Any], field: str) -> None:
    with pytest.raises(ConfigError, match=f"'{field}' must "):
        from_dict(DualConfig, settings)


def test_there_and_back() -> None:
    config = DualConfig()
    assert from_dict(DualConfig, to_dict(config)) == config


def test_it_does_not_need_torch() -> None:
    code = "import sys; import longtail.systems.dual.system; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
