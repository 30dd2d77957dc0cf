from __future__ import annotations

from pathlib import Path

import pytest

from longtail import data
from longtail.errors import DataError
from tests.data.build import put, tags


def test_reads_labels_wherever_they_are(tmp_path: Path) -> None:
    path = put(
        tmp_path / "a.txt.gz",
        "__label__x __label__y-z  two  words\nplain\n\nlate __label__x word\n__label__x\n",
    )
    assert data.sniff(path) == "fasttext"
    read = data.read(path)
    assert read.documents.texts == ["two  words", "plain", "late word", ""]
    assert tags(read) == [["x", "y-z"], [], ["x"], ["x"]]
    assert read.documents.ids == ["0", "1", "2", "3"]


@pytest.mark.parametrize("names", [("train.txt", "test.txt"), ("cooking.train", "cooking.test")])
def test_folders(tmp_path: Path, names: tuple[str, str]) -> None:
    for name in names:
        put(tmp_path / name, f"__label__{name} text\n")
    put(tmp_path / "labels.tsv", "new\tThe new one\n")
    assert data.sniff(tmp_path) == "fasttext"
    parts = data.read_folder(tmp_path)
    assert list(parts) == ["train", "test"]
    assert parts["test"].labels.ids == ["new", *names]


def test_a_label_without_a_name(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"line 2: there is a __label__ without a name"):
        data.read(put(tmp_path / "a.txt", "__label__x a\n__label__ b\n"))
