"""``longtail explain``: terminal, JSON, HTML, and what is refused."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from longtail.data import read_folder
from longtail.systems import create
from tests.cli.conftest import Call


@pytest.fixture(scope="module")
def linear(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("model") / "linear"
    create("linear").fit(read_folder(folder)["train"]).save(place)
    return place


def test_the_terminal_shows_labels_and_words(call: Call, linear: Path) -> None:
    answer = call("explain", linear, "--text", "a text about word3", "--label", "l3", "-q")
    assert answer.code == 0, answer.err
    assert answer.out.startswith("l3 (Label 3): ")
    assert "a text about word3" in answer.out
    assert "raised by: word3" in answer.out


def test_json_has_offsets_into_title_newline_text(call: Call, linear: Path) -> None:
    answer = call("explain", linear, "--title", "word3", "--text", "a text", "--label", "l3", "--json", "-q")
    found = json.loads(answer.out)
    assert found["text"] == "word3\na text"
    (label,) = found["labels"]
    best = max(label["words"], key=lambda word: word["weight"])
    assert (best["start"], best["end"], best["word"]) == (0, 5, "word3")


def test_the_best_labels_are_explained_and_revealed_ones_are_not(call: Call, linear: Path) -> None:
    first = json.loads(call("explain", linear, "--text", "word1", "-k", 2, "--json").out)["labels"]
    assert len(first) == 2
    best = first[0]["id"]
    again = json.loads(call("explain", linear, "--text", "word1", "--revealed", best, "--json").out)["labels"]
    assert best not in [label["id"] for label in again]


def test_a_page_is_written_once(call: Call, linear: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    answer = call("explain", linear, "--text", "<b>word1</b>", "--html", page)
    assert answer.code == 0, answer.err
    assert answer.out == ""
    assert "explained" in answer.err
    assert "&lt;b&gt;" in page.read_text()
    assert call("explain", linear, "--text", "word1", "--html", page).code != 0
    assert call("explain", linear, "--text", "word1", "--html", page, "--force").code == 0


def test_the_text_may_come_from_standard_input(
    call: Call, linear: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"word2"), "utf-8"))
    answer = call("explain", linear, "--text", "-", "--json")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["text"] == "word2"


def test_text_that_is_not_utf_8_can_be_written(call: Call, linear: Path) -> None:
    assert json.loads(call("explain", linear, "--text", "word1 \udcff", "--json").out)["text"] == "word1 ?"


def test_what_is_wrong_is_said(call: Call, linear: Path) -> None:
    answer = call("explain", linear, "--text", "x", "--label", "nothing")
    assert answer.code == 2
    assert "the model has no label 'nothing'" in answer.err
    assert "give a text with --text" in call("explain", linear).err
