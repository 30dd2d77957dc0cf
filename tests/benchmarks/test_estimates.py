"""Measured and estimated runs, on the smallest data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import estimates
from benchmarks.estimates import RUNS, Data, Training, main
from longtail.systems.memory import FORMULAS


def test_every_system_has_two_runs() -> None:
    names = [run.system for run in RUNS]
    assert {name for name in names if names.count(name) > 1} == {*FORMULAS, "ensemble"}
    assert len({run.name for run in RUNS}) == len(RUNS)


def test_a_run_is_measured_once_and_estimated_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(estimates, "RUNS", (Training("linear", Data(60, 20)),))
    out = tmp_path / "runs.json"
    main(["--out", str(out)])
    table = capsys.readouterr().out.splitlines()
    assert table[0].startswith("| run | memory MB | memory estimate | memory error |")
    assert table[2].startswith("| linear synthetic-60-20-12 |")
    kept = json.loads(out.read_text())
    measured = kept["runs"][0]["measured"]
    assert measured["peak_bytes"] > 50e6
    assert measured["disk_bytes"] >= measured["model_bytes"] > 0
    kept["runs"][0]["measured"]["cpu_seconds"] = 77.0
    out.write_text(json.dumps(kept))
    main(["--out", str(out), "--systems", "linear"])
    assert "| 77 |" in capsys.readouterr().out
