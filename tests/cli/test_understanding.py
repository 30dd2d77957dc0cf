"""How data were read is said, kept by the model, and used again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Call

TABLE = "title,abstract,body,tag\n" + "".join(f"t{n},a{n},b{n},x;y{n % 3}\n" for n in range(12))


@pytest.fixture
def trained(call: Call, tmp_path: Path) -> Path:
    (tmp_path / "docs.csv").write_text(TABLE)
    answer = call("train", tmp_path / "docs.csv", "-o", tmp_path / "model", "--system", "dummy")
    assert answer.code == 0, answer.err
    assert "title: title; text: abstract + body; labels: tag (separated by ';')" in answer.err
    return tmp_path / "model"


def test_a_model_keeps_its_columns(call: Call, trained: Path, tmp_path: Path) -> None:
    kept = json.loads((trained / "config.json").read_text())["reading"]
    assert (kept["title"], kept["texts"], kept["labels"], kept["separator"]) == (
        "title",
        ["abstract", "body"],
        "tag",
        ";",
    )
    other = tmp_path / "other.csv"
    other.write_text("title,text\na,b\n")
    answer = call("predict", trained, other)
    assert answer.code == 1
    assert (
        "no column 'abstract': the model was trained on title, abstract, body, the file has title, text"
        in answer.err
    )
    assert call("predict", trained, other, "--text-column", "text").code == 0
    assert call("predict", trained, tmp_path / "docs.csv").code == 0


def test_a_threshold_that_no_score_reaches(call: Call, trained: Path, tmp_path: Path) -> None:
    answer = call("predict", trained, tmp_path / "docs.csv", "--threshold", "50")
    assert answer.code == 2
    assert "--threshold must be a number from 0 to 1, as scores are, not 50: write 0.5 for 50 %" in answer.err


def test_training_without_labels_names_the_columns(call: Call, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,mark\na,b\n")
    answer = call("train", tmp_path / "a.csv", "-o", tmp_path / "m", "--system", "dummy")
    assert answer.code == 2
    assert "nothing to train on; none of text, mark is recognised as the labels" in answer.err
