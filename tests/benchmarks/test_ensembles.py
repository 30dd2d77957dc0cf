"""The table of ensembles: members are trained once per seed, every ensemble is measured on test documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import ensembles
from longtail import data
from longtail.systems.eclare.config import EclareConfig
from longtail.systems.ensemble.config import EnsembleConfig
from longtail.systems.ensemble.members import create_members
from longtail.systems.galaxc.config import GalaxcConfig
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
    assert all(len(row["recall_by_frequency"]) == 5 for row in result["rows"])
    both = [row["metrics"]["P@1"] for row in result["rows"] if row["members"] == ["linear", "lexical"]]
    assert min(both) > 80
    written = sorted(path.stat().st_mtime_ns for path in (tmp_path / "work").rglob("config.json"))
    ensembles.main(arguments)
    assert sorted(path.stat().st_mtime_ns for path in (tmp_path / "work").rglob("config.json")) == written


def test_members_are_left_out_and_trade_offs_are_rows(tiny: Parts, tmp_path: Path) -> None:
    data.write({"train": tiny.train, "valid": tiny.valid, "test": tiny.test}, tmp_path / "data")
    arguments = ["--data", str(tmp_path / "data"), "--members", "linear,lexical,dummy", "--leave-one-out"]
    arguments += ["--balances", "0,1", "--work", str(tmp_path / "work"), "--out", str(tmp_path / "out.json")]
    ensembles.main([*arguments, "--set", "linear.tree.leaf_size=8", "--threads", "1"])
    rows = json.loads((tmp_path / "out.json").read_text())["rows"]
    every = ["linear", "lexical", "dummy"]
    assert [(row["members"], row.get("balance")) for row in rows] == [
        (every, None),
        (["lexical", "dummy"], None),
        (["linear", "dummy"], None),
        (["linear", "lexical"], None),
        (every, 0),
        (every, 1),
    ]


def test_a_system_alone_is_trained_with_its_own_defaults() -> None:
    usual = ensembles.trained_alone("galaxc")
    assert usual["stages"]["joint"]["epochs"] == GalaxcConfig().stages.joint.epochs
    config = EnsembleConfig(members=("galaxc",), settings={"galaxc": {"calibrate": "none", **usual}})
    assert create_members(config)[0].system.config == GalaxcConfig(calibrate="none")
    assert ensembles.trained_alone("eclare")["label_documents"] == EclareConfig().label_documents
    assert ensembles.trained_alone("linear") == {}
