from __future__ import annotations

from pathlib import Path

import pytest

from longtail import data
from longtail.data import ReadOptions
from longtail.errors import DataError
from tests.data.build import put, tags

LINE = '{"text": "a", "labels": ["x"]}\n'


def test_parts_in_two_formats(tmp_path: Path) -> None:
    put(tmp_path / "train.jsonl", LINE)
    put(tmp_path / "test.csv", "text,labels\nb,y;x\n")
    parts = data.read_folder(tmp_path)
    assert parts["train"].labels.ids == parts["test"].labels.ids == ["x", "y"]
    assert tags(parts["test"]) == [["x", "y"]]


def test_two_files_of_one_part(tmp_path: Path) -> None:
    put(tmp_path / "train.jsonl", LINE)
    put(tmp_path / "train.csv", "text,labels\nb,y\n")
    with pytest.raises(DataError, match=r"train.jsonl and train.csv may each be the part train: .* --format"):
        data.read_folder(tmp_path)
    assert tags(data.read_folder(tmp_path, format="table")["train"]) == [["y"]]


def test_one_file_of_any_name(tmp_path: Path) -> None:
    put(tmp_path / "articles.jsonl", LINE)
    put(tmp_path / "labels.jsonl", '{"id": "x", "text": "the x"}\n')
    assert data.read_folder(tmp_path)["train"].labels.texts == ["the x"]
    put(tmp_path / "more.csv", "text,labels\nb,y\n")
    with pytest.raises(DataError, match=r"articles.jsonl, more.csv may each be the documents"):
        data.read_folder(tmp_path)


def test_labels_beside_a_single_file(tmp_path: Path) -> None:
    path = put(tmp_path / "d.csv", "text,labels\na,x\n")
    put(tmp_path / "labels.jsonl", '{"id": "x", "text": "the x"}\n')
    assert data.read(path).labels.texts == ["the x"]
    put(tmp_path / "labels.jsonl", '{"id": "z", "text": "the z"}\n')
    with pytest.raises(DataError, match="no label of the documents is in the file of labels"):
        data.read(path)
    other = put(tmp_path / "mine.tsv", "x\tanother x\n")
    assert data.read(path, options=ReadOptions(labels=str(other))).labels.texts == ["another x"]


def test_endings_in_capitals(tmp_path: Path) -> None:
    put(tmp_path / "mixed" / "TRAIN.JSONL", '{"text": "a", "labels": ["x"]}\n')
    put(tmp_path / "mixed" / "Test.CSV", "text,labels\nb,x\n")
    assert list(data.read_folder(tmp_path / "mixed")) == ["train", "test"]
    assert data.read(put(tmp_path / "ONE.TSV", "text\tlabels\nb\tx\n")).documents.texts == ["b"]
    assert data.sniff(put(tmp_path / "NOTES.TXT", "a\nb\n")) == "text"
