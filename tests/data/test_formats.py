from __future__ import annotations

from pathlib import Path

import pytest

from longtail import data
from longtail.errors import DataError
from tests.data.build import put


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a.jsonl", "", "jsonl"),
        ("a.jsonl.xz", "{}", "jsonl"),
        ("a.json", '{"text": "a"}\n', "jsonl"),
        ("anything", '{"text": "a"}\n', "jsonl"),
        ("a.json", '{"title": "a", "target_ind": [1]}\n', "xmc-raw"),
        ("a.txt", "2 3 4\n0,1 0:1 2:1\n", "xmc"),
        ("a.txt", "2 3 4\nthree numbers lead this text\n", "text"),
        ("trn_X_Xf.txt", "2 3\n0:1\n", "xmc-split"),
        ("X.npz", b"PK", "pecos"),
        ("a.txt", "0,1\ttext\n", "text2text"),
        ("a.txt", "__label__a text\n", "fasttext"),
        ("a.txt", "just a text\n", "text"),
        ("a.tsv", "text\t<u:1> <u:2>\n", "annif"),
        ("a.tsv.gz", "text\tlabels\n", "table"),
        ("a.csv", "text,subject_uris\n", "annif"),
        ("a.csv", "text,labels\n", "table"),
        ("a.parquet", b"PAR1", "table"),
    ],
)
def test_files(tmp_path: Path, name: str, content: str | bytes, format: str) -> None:
    assert data.sniff(put(tmp_path / name, content)) == format


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("train.jsonl.gz", "", "jsonl"),
        ("train.json", '{"text": "a"}\n', "jsonl"),
        ("trn.json.gz", "{}", "xmc-raw"),
        ("train.json", '{"target_ind": [1]}\n', "xmc-raw"),
        ("trn_X_Xf.txt", "1 2\n", "xmc-split"),
        ("X.trn.npz", b"", "pecos"),
        ("eurlex_train.txt", "1 2 3\n0 1:1\n", "xmc"),
        ("train.txt", "0\ttext\n", "text2text"),
        ("training-data.txt", "0\ttext\n", "text2text"),
        ("train.txt", "__label__a text\n", "fasttext"),
        ("train.tsv", "text\t<u:1>\n", "annif"),
        ("dev.csv", "text,labels\n", "table"),
        ("train.parquet", b"PAR1", "table"),
    ],
)
def test_folders(tmp_path: Path, name: str, content: str | bytes, format: str) -> None:
    put(tmp_path / name, content)
    put(tmp_path / "README.md", "what this is")
    assert data.sniff(tmp_path) == format


def test_unknown_data_names_the_formats(tmp_path: Path) -> None:
    for path in (put(tmp_path / "a.docx", b"\0\1"), tmp_path):
        with pytest.raises(DataError, match="in none of the known formats") as caught:
            data.sniff(path)
        for name in ("jsonl", "xmc", "pecos", "fasttext", "annif", "table"):
            assert f" {name}" in str(caught.value)
        assert "\n" not in str(caught.value)
    with pytest.raises(DataError, match="there is no such file or folder"):
        data.sniff(tmp_path / "nothing")
