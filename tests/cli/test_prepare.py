from __future__ import annotations

import json
from filecmp import dircmp
from pathlib import Path

import pytest

from longtail.data.writing import write as write_folder
from tests.cli.conftest import Call, records, write_lines
from tests.planted import Parts, planted

FAST = {
    "linear": [],
    "eclare": ["width=16", "stages.embed.epochs=1", "stages.rank.epochs=1", "negatives.random=20"],
}


def settings(name: str) -> list[str]:
    return ["--system", name, *(part for value in FAST[name] for part in ("--set", value))]


def same_files(one: Path, other: Path) -> bool:
    found = dircmp(one, other)
    if found.left_only or found.right_only or found.diff_files or found.funny_files:
        return False
    return all((one / f).read_bytes() == (other / f).read_bytes() for f in found.common_files) and all(
        same_files(one / name, other / name) for name in found.common_dirs
    )


@pytest.mark.parametrize("name", list(FAST))
def test_the_model_is_that_of_the_texts(call: Call, tiny: Parts, tmp_path: Path, name: str) -> None:
    data, folder = tmp_path / "data", tmp_path / "prepared"
    write_folder({"train": tiny.train, "valid": tiny.valid}, data)
    assert call("train", data, "-o", tmp_path / "a", *settings(name), "-q").code == 0
    answer = call("prepare", data, "-o", folder, *settings(name))
    assert answer.code == 0, answer.err
    assert "180 training documents and 40 labels" in answer.out
    answer = call("train", folder, "-o", tmp_path / "b", *settings(name), "-q")
    assert answer.code == 0, answer.err
    assert same_files(tmp_path / "a", tmp_path / "b")


def test_validation_documents_are_held_out_as_in_training(call: Call, tmp_path: Path) -> None:
    data, folder = tmp_path / "data", tmp_path / "prepared"
    write_folder({"train": planted(1100)}, data)
    assert call("train", data, "-o", tmp_path / "a", *settings("linear"), "-q").code == 0
    assert call("prepare", data, "-o", folder, *settings("linear"), "--json").code == 0
    assert call("train", folder, "-o", tmp_path / "b", *settings("linear"), "-q").code == 0
    assert same_files(tmp_path / "a", tmp_path / "b")
    answer = call("train", folder, "-o", tmp_path / "c", *settings("linear"), "--seed", 7)
    assert answer.code == 2
    assert "was prepared with seed 0" in answer.err
    answer = call("train", folder, "-o", tmp_path / "c", *settings("linear"), "--no-hold-out")
    assert answer.code == 2
    assert "--no-hold-out" in answer.err


def test_what_cannot_be_prepared(call: Call, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    write_lines(data / "train.jsonl", records(0, 40))
    for wanted, code, sentence in [
        (["--system", "auto"], 2, "name it with --system"),
        (["--system", "dummy"], 2, "no TF-IDF features"),
        (["--system", "linear", "-o", data], 2, "would replace the input"),
    ]:
        answer = call("prepare", data, "-o", tmp_path / "p", *wanted)
        assert answer.code == code
        assert sentence in answer.err
    answer = call("prepare", data, "-o", tmp_path / "p", "--system", "linear", "--json")
    assert json.loads(answer.out)["documents"] == 40
    answer = call("prepare", tmp_path / "p", "-o", tmp_path / "q", "--system", "linear")
    assert answer.code == 2
    assert "prepared already" in answer.err
