from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from longtail.data import read_folder
from longtail.serving.feedback import FeedbackStore
from tests.cli.conftest import Call
from tests.serving.test_feedback import feedback


@pytest.fixture
def database(tmp_path: Path) -> Path:
    store = FeedbackStore(tmp_path / "feedback.sqlite")
    store.add(feedback("d1"))
    store.add(feedback("d1", accepted=("b",), rejected=("a",), user=""))
    store.add(feedback("d2", added=("c",)))
    store.close()
    return tmp_path / "feedback.sqlite"


def test_the_export_is_a_training_file(call: Call, database: Path, tmp_path: Path) -> None:
    answer = call("feedback", "export", database, "-o", tmp_path / "out" / "train.jsonl")
    assert answer.code == 0, answer.err
    assert "train.jsonl: 2 documents" in answer.err
    data = read_folder(tmp_path / "out")["train"]
    assert data.documents.ids == ["d1", "d2"]
    assert data.documents.titles == ["A title", "A title"]
    assert [data.labels.ids[column] for column in data.Y[[1]].indices] == ["a", "c"]
    assert call("train", tmp_path / "out", "-o", tmp_path / "model", "--system", "knn", "-q").code == 0


def test_the_export_goes_to_stdout_and_replaces_nothing(call: Call, database: Path, tmp_path: Path) -> None:
    answer = call("feedback", "export", database)
    assert [json.loads(line)["labels"] for line in answer.out.splitlines()] == [["b"], ["a", "c"]]
    before = database.read_bytes()
    refused = call("feedback", "export", database, "-o", database, "--force")
    assert refused.code == 2
    assert database.read_bytes() == before


def test_entries_are_listed(call: Call, database: Path) -> None:
    lines = call("feedback", "list", database).out.splitlines()
    assert lines[0].split() == ["time", "model", "user", "document", "accepted", "rejected", "added"]
    assert [line.split()[2:] for line in lines[1:]] == [
        ["m", "ann", "d1", "a", "-", "-"],
        ["m", "-", "d1", "b", "a", "-"],
        ["m", "ann", "d2", "a", "-", "c"],
    ]
    records = [json.loads(line) for line in call("feedback", "list", database, "--json").out.splitlines()]
    assert [record["document"]["text"] for record in records] == ["the text of d1"] * 2 + ["the text of d2"]
    assert call("feedback", "list", database, "--model", "x", "--json").out == ""


def test_wrong_names_are_one_sentence(call: Call, database: Path, tmp_path: Path) -> None:
    answer = call("feedback", "list", tmp_path / "no.sqlite")
    assert answer.code == 2
    assert "there is no feedback database" in answer.err
    answer = call("feedback", "export", database, "--model", "x")
    assert answer.code == 2
    assert "has no feedback about the model 'x': it has some about m" in answer.err
    assert sorted(os.listdir(tmp_path)) == ["feedback.sqlite"]
