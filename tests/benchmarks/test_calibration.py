"""Calibration on test documents: models are trained once, calibrated anew, and every figure is written."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import calibration
from longtail import data
from tests.planted import parts_of, planted


def test_rows_are_written_and_models_kept(tmp_path: Path) -> None:
    parts = parts_of(planted(n_documents=600, n_labels=40))
    data.write({"train": parts.train, "valid": parts.valid, "test": parts.test}, tmp_path / "data")
    arguments = ["--data", str(tmp_path / "data"), "--systems", "linear,ensemble"]
    arguments += ["--members", "linear,knn", "--threads", "1", "--work", str(tmp_path / "work")]
    arguments += ["--out", str(tmp_path / "out.json")]
    calibration.main(arguments)
    result = json.loads((tmp_path / "out.json").read_text())
    assert [(row["system"], row["members"]) for row in result["rows"]] == [
        ("linear", None),
        ("ensemble", ["linear", "knn"]),
    ]
    for row in result["rows"]:
        assert row["calibration_error"]["after"]["5"] < 5
        assert set(row["calibration_error"]["after"]) == {"1", "5", "50"}
        kept = row["precision"]
        assert kept["low"] <= kept["precision"] <= kept["high"]
        assert row["chosen"]["max_f1, k=5"]["sample F1"] > row["chosen"]["k=5"]["sample F1"]
    written = sorted(path.stat().st_mtime_ns for path in (tmp_path / "work").rglob("config.json"))
    calibration.main(arguments)
    assert json.loads((tmp_path / "out.json").read_text())["rows"] == result["rows"]
    assert sorted(path.stat().st_mtime_ns for path in (tmp_path / "work").rglob("config.json")) == written
