from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Call, records, write_lines


def data(tmp_path: Path) -> Path:
    source = tmp_path / "source"
    source.mkdir(parents=True)
    write_lines(source / "train.jsonl", records(0, 40))
    return source


def test_a_table(call: Call, tmp_path: Path) -> None:
    answer = call("estimate", data(tmp_path), "--system", "linear", "--jobs", 1)
    assert answer.code == 0, answer.err
    words = [line.split("  ")[0].strip() for line in answer.out.splitlines()]
    assert words == ["system", "peak memory", "disk", "model size", "time"]
    assert "on 1 core" in answer.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]


def test_json(call: Call, tmp_path: Path) -> None:
    source = data(tmp_path)
    answers = [
        json.loads(call("estimate", source, "--system", "eclare", "--set", f"width={width}", "--json").out)
        for width in (32, 512)
    ]
    assert [found["documents"] for found in answers] == [40, 40]
    assert answers[0]["memory_bytes"] < answers[1]["memory_bytes"]


def test_auto_is_estimated_as_it_would_be_trained(call: Call, tmp_path: Path) -> None:
    answer = call("estimate", data(tmp_path))
    assert answer.code == 0, answer.err
    assert answer.out.startswith("The system is linear")


def test_wrong_settings(call: Call, tmp_path: Path) -> None:
    answer = call("estimate", data(tmp_path), "--system", "linear", "--set", "beem=3")
    assert answer.code == 2
    assert "beem" in answer.err


def test_train_says_it_first(call: Call, tmp_path: Path) -> None:
    source = data(tmp_path)
    answer = call("train", source, "-o", tmp_path / "m", "--system", "linear", "--max-memory", "8GB")
    assert answer.code == 0, answer.err
    assert "estimate: " in answer.err.split("features ...")[0]


def test_train_refuses_what_does_not_fit(call: Call, tmp_path: Path) -> None:
    model = tmp_path / "m"
    answer = call("train", data(tmp_path), "-o", model, "--system", "linear", "--max-memory", "20MB")
    assert answer.code == 2
    assert "more than the limit of 20 MB" in answer.err
    assert not model.exists()
    answer = call("train", data(tmp_path / "other"), "-o", model, "--max-memory", "much")
    assert "a memory limit must be a size" in answer.err
