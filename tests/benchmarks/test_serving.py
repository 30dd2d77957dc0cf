"""The benchmark of the service, on a small model and for seconds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.serving import main, suggest_requests
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
