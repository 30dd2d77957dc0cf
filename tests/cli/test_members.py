"""Members of an ensemble are chosen by name or by a latency budget."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longtail import load
from tests.cli.conftest import Call
from tests.cli.ensembles import ensemble, models, source

__all__ = ["ensemble", "models", "source"]


def test_members_by_name(call: Call, ensemble: Path, source: Path) -> None:
    subsets = load(ensemble).subsets_
    names = ",".join(subsets[0])
    few = call("predict", ensemble, source / "test.jsonl", "--members", names)
    assert few.code == 0, few.err
    assert f"members used: {names}\n" in few.err
    assert len(few.out.splitlines()) == 10
    whole = call("predict", ensemble, source / "test.jsonl", "-q")
    assert few.out != whole.out
    wrong = call("predict", ensemble, source / "test.jsonl", "--members", "eclare", "-q")
    assert wrong.code == 2
    assert "there is no re-ranker for the members eclare: there is one for" in wrong.err


def test_members_by_latency(call: Call, ensemble: Path, source: Path, tmp_path: Path) -> None:
    fast = call("predict", ensemble, source / "test.jsonl", "--latency", "1e-9")
    assert fast.code == 0, fast.err
    first = ", ".join(load(ensemble).subsets_[0])
    assert f"members used within 1e-09 ms per document: {first} (measured: linear " in fast.err
    assert "warning: even the fastest members take " in fast.err
    slow = call("predict", ensemble, source / "test.jsonl", "--latency", 1e6)
    assert "per document: linear, lexical, dummy (measured: " in slow.err
    assert "warning" not in slow.err
    assert slow.out == call("predict", ensemble, source / "test.jsonl").out
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    assert call("predict", ensemble, empty, "--latency", 1).out == ""


def test_evaluation_with_fewer_members(call: Call, ensemble: Path, source: Path) -> None:
    names = load(ensemble).subsets_[0]
    answer = call("evaluate", ensemble, source, "--members", ",".join(names), "--json", "-")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["meta"]["members"] == list(names)
    timed = call("evaluate", ensemble, source, "--latency", 1e6, "--json", "-")
    assert json.loads(timed.out)["meta"]["members"] == ["linear", "lexical", "dummy"]
    assert "members used within 1e+06 ms per document" in timed.err
    assert "members" not in json.loads(call("evaluate", ensemble, source, "--json", "-").out)["meta"]


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_members_are_for_ensembles(call: Call, source: Path, models: list[Path], command: str) -> None:
    data = source / "test.jsonl"
    for option, value in (("--latency", 5), ("--members", "linear")):
        answer = call(command, models[0], data, option, value, "-q")
        assert answer.code == 2
        assert f"{option} is for ensembles: the model is one of the system 'linear'" in answer.err
    both = call(command, models[0], data, "--latency", 5, "--members", "linear")
    assert both.code == 2
    assert "give one of them" in both.err
    for wrong in (0, -1, "fast", "nan"):
        assert call(command, models[0], data, "--latency", wrong, "-q").code == 2
