"""The README and docs/results.md have the results that are in benchmarks/results."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import readme_results
from benchmarks.ensembles import METRICS
from benchmarks.readme_results import (
    CAPTIONS,
    END,
    RESULTS,
    START,
    best_rows,
    main,
    ours,
    read,
    section,
    short_section,
)
from tests.benchmarks.worlds import contestant as big_row
from tests.benchmarks.worlds import result as big_result

ROOT = Path(__file__).parents[2]
STALE = "run python -m benchmarks.readme_results"


def test_the_pages_have_the_measured_results(tmp_path: Path) -> None:
    copies = [tmp_path / "README.md", tmp_path / "results.md"]
    for copy in copies:
        copy.write_text(f"before {START} other results {END} behind", encoding="utf-8")
    main(*copies)
    assert copies[0].read_text(encoding="utf-8") == f"before {short_section()} behind"
    assert copies[1].read_text(encoding="utf-8") == f"before {section()} behind"
    assert short_section() in (ROOT / "README.md").read_text(encoding="utf-8"), STALE
    assert section() in (ROOT / "docs" / "results.md").read_text(encoding="utf-8"), STALE


@pytest.mark.parametrize("data", CAPTIONS)
def test_no_run_counts_twice(data: str) -> None:
    runs = Counter(
        (tuple(row["members"]), row["seed"])
        for path in RESULTS.glob(f"ensemble-{data}-*.json")
        for row in read(path.name)["rows"]
    )
    assert set(runs.values()) <= {1}
    assert len(ours(data)) == len({members for members, _ in runs})


def contestant(name: str, value: float, **cost: float) -> dict[str, object]:
    return {"name": name, "metrics": dict.fromkeys(METRICS, value), **cost}


def write(folder: Path, name: str, **content: object) -> None:
    (folder / name).write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(readme_results, "RESULTS", tmp_path)
    rows = [
        {"members": ["linear"], "seed": 0, "metrics": dict.fromkeys(METRICS, 50.0)},
        {
            "members": ["linear", "knn"],
            "seed": 0,
            "metrics": dict.fromkeys(METRICS, 60.0),
            "cpu_seconds": {"linear": 60.0, "knn": 30.0},
        },
        {"members": ["linear", "knn"], "seed": 1, "metrics": dict.fromkeys(METRICS, 62.0)},
    ]
    write(tmp_path, "ensemble-debian-a.json", rows=rows)
    return tmp_path


def test_what_is_not_measured_is_left_out(results: Path) -> None:
    assert (
        "| longtail, ensemble of linear, knn (2 seeds) | **61.00** | **61.00** | 1.5 |  |" in short_section()
    )
    assert "| longtail, `linear` | 50.00 | 50.00 |  |  |" in short_section()
    assert "wordnet" not in section()
    assert "Cost" not in section()


def test_five_rows_with_the_peers_that_there_are(results: Path) -> None:
    peers = [
        contestant("pecos", 55.0, train_cpu_seconds=120.0, batch_cpu_ms=0.5),
        contestant("omikuji-parabel", 54.0),
        contestant("omikuji-bonsai", 56.0),
        contestant("napkinxc", 53.0),
        contestant("linear", 1.0),
    ]
    write(results, "debian-title-peers.json", contestants=peers)
    names = [row.name for row in best_rows("debian")]
    assert names == [
        "ensemble of linear, knn (2 seeds)",
        "`linear`",
        "PECOS XR-Linear",
        "omikuji (Bonsai)",
        "napkinXC",
    ]
    assert "| PECOS XR-Linear | 55.00 | 55.00 | 2.0 | 0.50 |" in short_section()
    write(
        results,
        "debian-title-others.json",
        contestants=[contestant("annif", 40.0), contestant("minilm-both", 30.0)],
    )
    names = [row.name for row in best_rows("debian")]
    assert names[1:] == ["PECOS XR-Linear", "omikuji (Bonsai)", "Annif (ensemble)", "MiniLM, both added"]
    assert re.search(r"\| longtail, ensemble of linear, knn \(2 seeds\) \| \*\*61.00", short_section())


def test_rows_of_the_big_table_have_their_costs_and_go_before_single_runs(results: Path) -> None:
    write(results, "debian-title-peers.json", contestants=[contestant("pecos", 55.0)])
    (results / "big" / "debian").mkdir(parents=True)
    for name, value in (("auto", 70.0), ("pecos", 56.0)):
        row = big_row(name, value) | {"reads_text": True, "batch_cpu_ms": 0.25, "calibration_error": 2.0}
        row["settings"] = {"members": ["linear", "lexical"]} if name == "auto" else {}
        content = json.dumps(big_result(row))
        (results / "big" / "debian" / f"{name}-0.json").write_text(content, encoding="utf-8")
    lines = short_section().splitlines()
    assert "| longtail, `auto`: linear, lexical | **70.00** | **70.00** | 0.0 | 0.25 |" in lines
    assert "| PECOS XR-Linear | 56.00 | 56.00 | 0.0 | 0.25 |" in lines
    assert "### debian" in section()


def test_values_above_and_below_a_hundred_are_compared_as_numbers(results: Path) -> None:
    write(results, "debian-title-peers.json", contestants=[contestant("pecos", 9.0)])
    assert "| PECOS XR-Linear | 9.00 | 9.00 |" in short_section()


def test_the_files_of_the_repository_work_alone_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in RESULTS.glob("ensemble-wordnet-*.json"):
        shutil.copy(path, tmp_path)
    monkeypatch.setattr(readme_results, "RESULTS", tmp_path)
    assert "**wordnet**" in section()
    assert short_section().splitlines()[1].startswith("`wordnet`")
