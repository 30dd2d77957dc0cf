"""The table of ensembles: members are trained once per seed, every ensemble is measured on test documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import ensembles
from longtail import data
from tests.planted import Parts


def test_members_are_trained_once_and_rows_are_written(
    tiny: Parts, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = {"train": tiny.train, "valid": tiny.valid, "test": tiny.test}
    data.write(parts, tmp_path / "data")
    arguments = ["--data", str(tmp_path / "data"), "--members", "linear,lexical", "--members", "linear,dummy"]
    arguments += [
        "--seeds",
        "0,1",
        "--each",
        "--work",
        str(tmp_path / "work"),
        "--out",
        str(tmp_path / "out.json"),
    ]
    arguments += ["--set", "linear.tree.leaf_size=8", "--threads", "1"]
    ensembles.main(arguments)
    shown = capsys.readouterr().out
    assert "| linear+lexical | mean of 2 |" in shown
    result = json.loads((tmp_path / "out.json").read_text())
    assert [(row["members"], row["seed"]) for row in result["rows"]] == [
        (members, seed)
        for seed in (0, 1)
        for members in (["dummy"], ["lexical"], ["linear"], ["linear", "lexical"], ["linear", "dummy"])
    ]
    both = [row["metrics"]["P@1"] for row in result["rows"] if row["members"] == ["linear", "lexical"]]
    assert min(both) > 80
    written = sorted(path.stat().st_mtime_ns for path in (tmp_path / "work").rglob("config.json"))
    ensembles.main(arguments)
    assert sorted(path.stat().st_mtime_ns for path in (tmp_path / "work").rglob("config.json")) == written
