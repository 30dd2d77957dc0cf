"""The measurements of hostile files, texts, near-duplicates and interrupted commands, each on a small scale."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import numpy as np
import pytest

from benchmarks.hostile import __main__ as command
from benchmarks.hostile import files, interrupts, near_duplicates, texts


def test_all_planted_near_duplicates_are_found(tmp_path: Path) -> None:
    found = near_duplicates.measure(tmp_path, texts=500, pairs=20)
    assert (found["found_pairs"], found["other_joined"]) == (20, 0)


def test_hard_texts_have_the_size_that_was_asked_for() -> None:
    for kind, text in texts.hard_texts(3000).items():
        assert 2980 <= len(text.encode()) <= 3000, kind


def test_texts_are_tagged(tmp_path: Path) -> None:
    found = texts.measure(tmp_path, size=300, systems=("dummy",))
    assert len(found["rows"]) == len(texts.hard_texts(300))
    assert found["most_seconds"] == max(row["seconds"] for row in found["rows"])


@pytest.mark.parametrize("only", ["2,000,000,000 labels", "wrapped pointers"])
def test_a_hostile_file_is_refused_in_one_sentence(tmp_path: Path, only: str) -> None:
    found = files.measure(tmp_path, scale=0.001, only=only)
    assert (found["runs"], found["wrong"]) == (3, 0)
    assert {row["code"] for row in found["rows"]} == {1}


def test_the_peak_is_of_the_command_alone() -> None:
    held = np.ones(2**28, np.uint8)  # 256 MB of this process are not counted
    ended = files._run(["--version"])
    assert ended["code"] == 0
    assert ended["peak_mb"] < held.nbytes // 2**20


def test_every_hostile_file_can_be_written(tmp_path: Path) -> None:
    for number, write in enumerate(files.hostile_files(0.0001).values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert write(folder).stat().st_size > 0


def test_endings_are_judged(tmp_path: Path) -> None:
    place, output = tmp_path / "run", tmp_path / "run" / "output"
    place.mkdir()

    def kind(code: int, text: str = "") -> str:
        return interrupts.kind_of(code, signal.SIGINT, text, place, output)

    assert kind(130, "longtail: interrupted; nothing was written") == "interrupted"
    assert (kind(143), kind(-2), kind(0)) == ("exit 143", "exit -2", "exit 0 without output")
    assert kind(130, "Traceback (most recent call last)") == "traceback"
    output.write_text("{}")
    assert (kind(0), kind(130)) == ("done", "interrupted")
    assert kind(130, "interrupted; nothing was written") == "says that nothing was written"
    (place / "output.checkpoints").mkdir()
    assert kind(130) == "interrupted"
    (place / ".output.1234.tmp").touch()
    assert kind(130) == "left .output.1234.tmp"


def test_moments_are_at_the_start_the_end_and_between() -> None:
    chosen = interrupts.moments(9.0, 16, 0)
    assert {kind for kind, _, _ in chosen} == {"start", "any", "end"}
    assert all(0 <= seconds <= {"start": 1, "any": 9, "end": 0.3}[kind] for kind, _, seconds in chosen)
    assert sum(number is signal.SIGINT for _, number, _ in chosen) == 8
    assert {kind for kind, _, _ in interrupts.moments(9.0, 16, 0, "end")} == {"end"}


def test_a_real_command_is_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text(
        "".join(json.dumps({"text": f"a {n}", "labels": [f"l{n % 9}"]}) + "\n" for n in range(3000))
    )

    def arguments(command: str, work: Path, output: Path) -> list[str]:
        return ["train", str(data), "-o", str(output), "--system", "dummy"]

    monkeypatch.setattr(interrupts, "arguments", arguments)
    for moment, number, seconds in (
        ("any", signal.SIGTERM, 0.3),
        ("end", signal.SIGTERM, 0.0),
        ("any", signal.SIGTERM, 0.5),
    ):
        ending = interrupts.interrupt("train", tmp_path, moment, number, seconds)
        assert ending.right, ending


def test_values_of_the_command_line() -> None:
    assert [command.value_of(text) for text in ("3", "0.5", "a", "a,b", "a,")] == [
        3,
        0.5,
        "a",
        ("a", "b"),
        ("a",),
    ]


def test_the_result_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "found.json"
    command.main(["near_duplicates", "texts=300", "pairs=10", "--out", str(out)])
    found = json.loads(out.read_text())
    assert (found["part"], found["found_pairs"]) == ("near_duplicates", 10)
    assert "machine" in found
    assert '"found_pairs": 10' in capsys.readouterr().out
