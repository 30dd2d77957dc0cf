from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from longtail.cli.source import readable
from longtail.errors import DataError
from tests.cli.conftest import Call


def give_standard_input(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_a_path_is_itself() -> None:
    with readable("some/where") as place:
        assert place == "some/where"


def test_standard_input_is_a_file_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    give_standard_input(monkeypatch, b"\xff\x00 bytes")
    with readable("-") as place:
        assert Path(place).read_bytes() == b"\xff\x00 bytes"
    assert not os.path.exists(Path(place).parent)


def test_errors_speak_of_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    give_standard_input(monkeypatch, b"")
    with pytest.raises(DataError, match=r"^standard input, line 3: wrong$"), readable("-") as place:
        raise DataError("wrong", path=place, line=3)


def test_commands_read_standard_input(
    call: Call, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = (folder / "train.jsonl").read_bytes()
    model = tmp_path / "m"
    for arguments in (
        ("check", "-"),
        ("convert", "-", tmp_path / "converted", "-q"),
        ("split", "-", "-o", tmp_path / "split", "-q"),
        ("train", "-", "-o", model, "--system", "dummy", "-q"),
        ("evaluate", model, "-", "-q"),
    ):
        give_standard_input(monkeypatch, content)
        answer = call(*arguments)
        assert answer.code == 0, (arguments, answer.err)
        assert "standard-input" not in answer.out + answer.err
    give_standard_input(monkeypatch, b'{"id": "1"\n')
    wrong = call("train", "-", "-o", tmp_path / "n", "--system", "dummy", "-q")
    assert wrong.code == 1
    assert wrong.err.startswith("longtail: standard input, line 1: ")


def test_a_table_is_recognised(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    give_standard_input(monkeypatch, b"text,labels\na cat,x\na dog,y\n")
    answer = call("train", "-", "-o", tmp_path / "m", "--system", "dummy")
    assert answer.code == 0, answer.err
    assert "standard input: table; id: row number; title: none; text: text; labels: labels" in answer.err
