"""The benchmark of the service, on a small model and for seconds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.errors import BenchmarkError
from benchmarks.serving import arguments_of, bind, main, suggest_requests
from longtail.data import write
from tests.planted import Parts


@pytest.fixture(scope="module")
def data(tiny: Parts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("data") / "tiny"
    write({"train": tiny.train, "test": tiny.test}, place)
    return place


def test_load_reload_and_soak(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(
        [
            *("--data", str(data), "--systems", "linear", "--parts", "load,reload,soak"),
            *(
                "--clients",
                "1,4",
                "--seconds",
                "0.5",
                "--reloads",
                "3",
                "--soak-minutes",
                "0.02",
                "--workers",
                "1",
            ),
            *("--work", str(tmp_path / "work"), "--out", str(tmp_path / "out.json")),
        ]
    )
    found = json.loads((tmp_path / "out.json").read_text())
    for clients in ("1", "4"):
        seen = found["load"]["1 workers"]["linear"]["clients"][clients]
        assert set(seen["statuses"]) == {"200"}
        assert seen["errors"] == {}
        assert seen["per second"] > 0
    assert found["reload"]["changed"] == 3
    assert found["reload"]["reload statuses"] == [200]
    assert found["reload"]["failed requests"] == 0
    assert found["soak"]["failed requests"] == 0
    assert "soak" in capsys.readouterr().out


def test_a_form_is_escaped() -> None:
    [request] = suggest_requests("peer", ["a & b=ü"])
    assert b"text=a+%26+b%3D%C3%BC&limit=10" in request


def test_one_core_for_everything() -> None:
    """In a process of its own: the tests keep theirs."""
    [core, *_] = sorted(os.sched_getaffinity(0))
    program = (
        "import os, subprocess, sys; from benchmarks.serving import bind; bind(int(sys.argv[1])); "
        "asked = 'import os; print(sorted(os.sched_getaffinity(0)))'; "
        "print(subprocess.run([sys.executable, '-c', asked], capture_output=True, text=True).stdout)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(core)], capture_output=True, text=True, timeout=120, check=True
    )
    assert ran.stdout.strip() == f"[{core}]"


def test_a_core_that_is_not_there() -> None:
    before = os.sched_getaffinity(0)
    with pytest.raises(BenchmarkError, match="100000"):
        bind(100_000)
    assert os.sched_getaffinity(0) == before


def test_the_core_is_an_option() -> None:
    assert arguments_of(["--data", "x", "--core", "1"]).core == 1
    assert arguments_of(["--data", "x"]).core is None
