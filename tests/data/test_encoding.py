from __future__ import annotations

import io
from pathlib import Path

import pytest

from longtail import data
from longtail.data import ReadOptions
from longtail.data.encoding import is_evidently_utf8
from longtail.errors import DataError
from tests.data.build import put

CSV = "text,labels\nhäuser größer,x\n"


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_utf_16_is_recognised(tmp_path: Path, name: str) -> None:
    assert data.read(put(tmp_path / name, CSV.encode("utf-16"))).documents.texts == ["häuser größer"]


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
def test_an_encoding_on_request(tmp_path: Path, encoding: str) -> None:
    path = put(tmp_path / "a.csv", CSV.encode(encoding))
    assert data.read(path, options=ReadOptions(encoding=encoding)).documents.texts == ["häuser größer"]
    with pytest.raises(DataError, match=r"line 2: is not valid UTF-8 .* --encoding cp1252"):
        data.read(path)


def test_text_that_is_evidently_utf_8() -> None:
    assert is_evidently_utf8(io.BytesIO("häuser".encode()))
    assert is_evidently_utf8(io.BytesIO(("a" * 65535 + "ä").encode())), "a character on two chunks"
    for other in (b"plain", "häuser".encode("cp1252"), "häuser".encode("utf-16-le"), "ä".encode()[:1]):
        assert not is_evidently_utf8(io.BytesIO(other))


def test_what_is_shown_is_the_encoding_of_the_file(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", CSV.encode("utf-16"))
    assert data.check(path).lines()[1].startswith(f"{path}: table in utf-16; ")
    found = []
    list(data.stream(path, note=found.append))
    assert found[0].encoding == "utf-16"


def test_files_beside_the_documents_are_in_the_same_encoding(tmp_path: Path) -> None:
    options = ReadOptions(encoding="cp1252")
    put(tmp_path / "train.csv", "id,text,labels\nä1,häuser,ö\n".encode("cp1252"))
    put(tmp_path / "filter_train.tsv", "ä1\tö\n".encode("cp1252"))
    put(tmp_path / "edges.tsv", "ä1\tö\n".encode("cp1252"))
    train = data.read_folder(tmp_path, options=options)["train"]
    assert train.filtered is not None
    assert train.filtered.nnz == 1
    assert train.edges is not None
    assert train.edges.targets == ["ö"]


def test_names_of_columns_are_in_the_same_encoding(tmp_path: Path) -> None:
    options = ReadOptions(encoding="cp1252")
    put(tmp_path / "train.txt", "1 1 1\n0 0:1\n")
    put(tmp_path / "labels.txt", "größe\n".encode("cp1252"))
    assert data.read(tmp_path, options=options).labels.ids == ["größe"]
    put(tmp_path / "text" / "train.txt", "0\thäuser\n".encode("cp1252"))
    put(tmp_path / "text" / "output-items.txt", "größe\n".encode("cp1252"))
    read = data.read(tmp_path / "text", options=options)
    assert (read.documents.texts, read.labels.texts) == (["häuser"], ["größe"])
