from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from longtail import data
from longtail.data import ReadOptions
from longtail.errors import DataError, MissingPackageError
from tests.data.build import put, tags


def test_csv_with_guessed_columns(tmp_path: Path) -> None:
    text = '\ufeffdoc_id,Title,Body,tags,year\r\nd1,T,"a, ""b""\r\nnext line",x; y z,1999\r\nd2,,c,,\r\n'
    path = put(tmp_path / "a.csv.gz", text)
    assert data.sniff(path) == "table"
    read = data.read(path)
    assert read.documents.ids == ["d1", "d2"]
    assert read.documents.joined() == ['T\na, "b"\nnext line', "c"]
    assert tags(read) == [["x", "y z"], []]
    assert read.documents.extra is not None
    assert list(read.documents.extra) == [{"year": "1999"}, {}]


def test_tsv_folder_with_named_columns(tmp_path: Path) -> None:
    put(tmp_path / "train.tsv", "words\tclasses\na\tx y+z\nb\t\n")
    put(tmp_path / "test.tsv", "words\tclasses\nc\tx\n")
    put(tmp_path / "labels.csv", "uri,label_en,notation\nz,Zed,1\n")
    options = ReadOptions(text_column="words", label_column="classes", label_separator="+")
    parts = data.read_folder(tmp_path, options=options)
    assert parts["test"].labels.ids == ["z", "x y", "x"]
    assert parts["test"].labels.texts == ["Zed", "", ""]
    assert tags(parts["train"]) == [["z", "x y"], []]


def test_other_delimiter_of_a_csv(tmp_path: Path) -> None:
    assert tags(data.read(put(tmp_path / "a.csv", "text;labels\nhello, you;p|q\n"))) == [["p", "q"]]


def test_a_field_of_ten_megabytes(tmp_path: Path) -> None:
    read = data.read(put(tmp_path / "a.csv", f"text,labels\n{'x' * 10_000_000},y\n"))
    assert len(read.documents.texts[0]) == 10_000_000


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("text,labels\na,b\na,b,c\n", 3, "there are 3 fields, but 2 columns"),
        ('text,labels\na,"b\n', 2, "is not valid CSV"),
        ("words,labels\na,b\n", 1, "none of the columns words, labels is the text"),
        ("text,labels\na,[1\n", 1, "expected a JSON list"),
    ],
)
def test_bad_tables(tmp_path: Path, content: str, line: int, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        data.read(put(tmp_path / "a.csv", content))
    assert caught.value.line == line


def test_a_named_column_that_is_not_there(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", "text,labels\na,b\n")
    with pytest.raises(DataError, match="there is no column 'tags'; the columns are text, labels"):
        data.read(path, options=ReadOptions(label_column="tags"))


def test_parquet(tmp_path: Path) -> None:
    table = pa.table({"id": [1, 2], "text": ["a", None], "labels": [["x", "y"], []], "n": [0.5, None]})
    parquet.write_table(table, tmp_path / "train.parquet")
    read = data.read_folder(tmp_path)["train"]
    assert read.documents.ids == ["1", "2"]
    assert read.documents.texts == ["a", ""]
    assert tags(read) == [["x", "y"], []]
    assert read.documents.extra is not None
    assert list(read.documents.extra) == [{"n": 0.5}, {}]
    ((documents, labels),) = data.stream(tmp_path / "train.parquet")
    assert (len(documents), labels) == (2, [["x", "y"], []])


def test_a_file_that_is_no_parquet(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not a Parquet file"):
        data.read(put(tmp_path / "a.parquet", b"PAR1 or not"))


def test_parquet_without_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingPackageError, match=r"longtail\[parquet\]"):
        data.read(put(tmp_path / "a.parquet", b""))
