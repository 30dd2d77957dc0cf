"""The big table: what is run, what counts as done, and its Markdown."""

import json
import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from benchmarks import big, big_table
from benchmarks.big import CONTESTANTS, DATA_SETS, Entry, entries
from benchmarks.errors import BenchmarkError
from benchmarks.peers import PEERS
from tests.benchmarks.worlds import LABELS, contestant, result

ROOT = Path(__file__).parents[2]
DEBIAN = DATA_SETS[0]


def test_every_system_and_peer_is_in_the_table():
    wanted = {name for peer in PEERS.values() for name in peer.contestants}
    assert wanted <= set(CONTESTANTS)
    found = {entry.contestant for entry in entries([], ["debian"], None)}
    assert found == set(CONTESTANTS)


def test_seeds_and_splits():
    assert [e.seed for e in entries(["pecos"], ["debian"], None)] == [0, 1]
    assert [e.seed for e in entries(["lexical"], ["debian"], None)] == [0], "its result has no chance in it"
    assert [e.split for e in entries(["knn"], ["bibtex"], None)] == list(range(10))
    assert [e.seed for e in entries(["linear"], ["bibtex"], [0, 1])] == [0, 1]
    assert list(entries(["eclare"], ["bibtex"], None)) == [], "it reads texts"


def test_unknown_names_are_said():
    with pytest.raises(BenchmarkError, match="'pekos'"):
        list(entries(["pekos"], [], None))
    with pytest.raises(BenchmarkError, match="'nowhere'"):
        list(entries([], ["nowhere"], None))


def write(entry, **changes):
    made = result(contestant(entry.contestant)) | {"asked": entry.asked()} | changes
    entry.path.parent.mkdir(parents=True, exist_ok=True)
    entry.path.write_text(json.dumps(made))


def test_a_result_counts_if_it_was_made_with_the_same_settings(tmp_path, monkeypatch):
    monkeypatch.setattr(big, "FOLDER", tmp_path)
    for name in ("linear", "pecos", "auto"):
        entry = Entry(DEBIAN, name, 0)
        assert not entry.is_done()
        write(entry)
        assert entry.is_done()
        write(entry, asked=entry.asked() | {"depth": 1})
        assert not entry.is_done()
    assert Entry(DEBIAN, "linear", 0).asked()["settings"]["calibrate"] == "isotonic"
    write(entry, contestants=[{"name": "auto", "error": "out of memory"}])
    assert not entry.is_done(), "a failure is tried again"


def world(folder):
    folder.mkdir(parents=True)
    for part, n in (("train", 120), ("valid", 60), ("test", 24)):
        rows = [
            {"id": f"{part}{i}", "title": f"word{i % LABELS} common", "labels": [f"l{i % LABELS}"]}
            for i in range(n)
        ]
        (folder / f"{part}.jsonl").write_bytes(b"\n".join(orjson.dumps(row) for row in rows) + b"\n")


def test_what_is_missing_is_run_once(tmp_path):
    world(tmp_path / "data" / "debian")
    code = (
        "import sys; from pathlib import Path; from benchmarks import big; from benchmarks.__main__ import main;"
        "big.FOLDER = Path(sys.argv[1]); sys.exit(main(sys.argv[2:]))"
    )
    command = [
        *(sys.executable, "-c", code, tmp_path / "results", "all", "--data", tmp_path / "data"),
        *("--only", "linear", "--sets", "debian", "--seeds", "0", "--work", tmp_path / "work"),
    ]
    environment = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert "0 of 1 results are there" in done.stderr
    (row,) = json.loads((tmp_path / "results" / "debian" / "linear-0.json").read_text())["contestants"]
    assert row["metrics"]["P@1"] == 100
    assert row["chosen"]["micro F1"] > 90
    assert 0 <= row["calibration_error"] < 50
    assert not row["reads_text"]
    again = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=environment)
    assert "1 of 1 results are there" in again.stderr
    assert "linear" not in again.stdout
    assert list((tmp_path / "work" / "runs").iterdir()) == []

    text = big_table.table("debian", tmp_path / "results")
    assert "| `linear` | 100.00 |" in text
    assert "Not run yet: `lexical`" in text


def test_the_mean_over_runs_and_the_cost_of_features(tmp_path):
    (tmp_path / "debian").mkdir()
    for seed, value in enumerate((50.0, 60.0)):
        row = contestant("pecos", value) | {
            "reads_text": False,
            "batch_cpu_ms": 1.0,
            "calibration_error": None,
        }
        made = result(row)
        made["data"]["features"] = {"fit_cpu_seconds": 3.0, "transform_cpu_ms": 0.5}
        (tmp_path / "debian" / f"pecos-{seed}.json").write_text(json.dumps(made))
    row = contestant("fasttext", 40.0, 9.0) | {
        "reads_text": True,
        "batch_cpu_ms": 1.0,
        "calibration_error": 7.0,
        "chosen": {"micro F1": 33.0},
    }
    (tmp_path / "debian" / "fasttext-0.json").write_text(json.dumps(result(row)))
    pecos, fasttext = big_table.measured("debian", tmp_path)
    assert (pecos.metrics["P@1"], pecos.runs, pecos.f1) == (55.0, 2, None)
    assert (pecos.train_cpu_seconds, pecos.predict_cpu_ms) == (5.0, 1.5)
    assert (fasttext.train_cpu_seconds, fasttext.predict_cpu_ms) == (9.0, 1.0)
    text = big_table.table("debian", tmp_path)
    assert "| PECOS XR-Linear (2 runs) | **55.00** |" in text
    assert "| fastText | 40.00 |" in text
    assert big_table.table("wordnet", tmp_path) is None
