"""The choice of auto is trained and measured, and the file says what was chosen and how long it took."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import auto_choice
from longtail import data
from tests.planted import Parts


def test_the_choice_is_measured(tiny: Parts, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data.write({"train": tiny.train, "valid": tiny.valid, "test": tiny.test}, tmp_path / "data")
    out = tmp_path / "out.json"
    auto_choice.main(
        ["--data", str(tmp_path / "data"), "--budget", "5s", "--threads", "1", "--out", str(out)]
    )
    result = json.loads(out.read_text())
    assert result["budget"] == 5
    assert result["estimated_seconds"] > 0
    assert result["seconds"] > 0
    assert set(result["metrics"]) == set(auto_choice.METRICS)
    assert result["reason"] in capsys.readouterr().out
