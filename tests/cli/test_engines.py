"""The options of commands that can work on a Ray cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from longtail import engine
from longtail.cli import engines
from tests.cli.conftest import Call, records, write_lines


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "data.jsonl"
    write_lines(path, records(0, 20))
    return path


@pytest.mark.parametrize("command", [("train",), ("tune", "--trials", 1)])
def test_an_address_needs_the_engine(
    command: tuple[str, ...], call: Call, source: Path, tmp_path: Path
) -> None:
    name, *more = command
    answer = call(name, source, "-o", tmp_path / "out", *more, "--address", "10.0.0.1:6379")
    assert answer.code == 2
    assert "--address names a Ray cluster: add --engine ray" in answer.err


def test_a_cluster_that_cannot_be_reached(call: Call, source: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    more = ("--engine", "ray", "--address", "127.0.0.1:1", "--system", "dummy", "-q")
    answer = call("train", source, "-o", model, *more)
    assert answer.code == 1
    assert "no Ray cluster can be reached at 127.0.0.1:1" in answer.err or "longtail[ray]" in answer.err
    assert not model.exists()


def test_processes_of_torchrun_use_no_cluster(
    call: Call, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    answer = call("train", source, "-o", tmp_path / "m", "--engine", "ray", "--system", "eclare")
    assert answer.code == 2
    assert "leave it out with torchrun" in answer.err


def test_the_local_engine_is_that_of_this_process() -> None:
    with engines.using("local", None, None, "tests"):
        assert not engine.in_use().elsewhere
