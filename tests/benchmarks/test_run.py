"""Whole runs in processes of their own, with longtail's own systems only."""

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks import results
from tests.benchmarks.worlds import write_matrices, write_texts

ROOT = Path(__file__).parents[2]


def benchmarks(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )


def test_a_run_from_matrices_to_table(tmp_path):
    data, out = write_matrices(tmp_path / "toy", filtered=True), tmp_path / "out.json"
    run = [
        "run",
        "--systems",
        "dummy",
        "--data",
        data,
        "--out",
        out,
        "--work",
        tmp_path / "work",
        "--threads",
        1,
    ]
    done = benchmarks(*run)
    assert done.returncode == 0, done.stderr
    assert "| dummy |" in done.stdout
    result = results.read(out)
    (dummy,) = result["contestants"]
    assert result["data"]["train_documents"] == 90
    assert 0 < dummy["metrics"]["R@10"] <= 100
    assert dummy["peak_mb"] > 10
    assert dummy["model_mb"] > 0
    assert "longtail" in dummy["versions"]
    assert dummy["phase_seconds"]
    assert list((tmp_path / "work" / "runs").iterdir()) == []

    again = benchmarks(*run)
    assert again.returncode == 1
    assert "--force" in again.stderr
    assert benchmarks("table", out).stdout == done.stdout


def test_text_and_features_in_one_run_and_a_failure_does_not_stop_it(tmp_path):
    data, out = write_texts(tmp_path / "toy"), tmp_path / "out.json"
    done = benchmarks(
        "run", "--systems", "dummy,dummy@text", "--set", "dummy@text:nonsense=1", "--data", data,
        "--out", out, "--work", tmp_path / "work", "--seed", 3,
    )  # fmt: skip
    assert done.returncode == 1
    good, bad = json.loads(out.read_text())["contestants"]
    assert good["settings"]["seed"] == 3
    assert good["metrics"]["P@1"] >= 0
    assert "nonsense" in bad["error"]
    assert "dummy@text failed" in done.stdout


def test_a_peer_whose_environment_cannot_be_made_is_said_before_anything_runs(tmp_path):
    data = write_matrices(tmp_path / "toy")
    (tmp_path / "work").write_text("a file where the folder should be")
    done = benchmarks("run", "--peers", "pecos", "--data", data, "--work", tmp_path / "work")
    assert done.returncode == 1
    assert "virtual environment" in done.stderr
    assert "Traceback" not in done.stderr
