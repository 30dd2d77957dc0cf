from __future__ import annotations

from pathlib import Path

import pytest

from longtail import data
from longtail.errors import DataError
from tests.data.build import put, tags


def test_tsv_with_a_vocabulary(tmp_path: Path) -> None:
    put(tmp_path / "train.tsv.gz", "a text\twith tab\t<http://x/1> <http://x/2>\nno subjects\t\n")
    put(tmp_path / "vocab.tsv", "<http://x/2>\tTwo\n<http://x/1>\tOne\tn1\n")
    assert data.sniff(tmp_path) == "annif"
    train = data.read_folder(tmp_path)["train"]
    assert train.documents.texts == ["a text\twith tab", "no subjects"]
    assert train.labels.ids == ["http://x/2", "http://x/1"]
    assert train.labels.texts == ["Two", "One"]
    assert train.labels.extra is not None
    assert list(train.labels.extra) == [{}, {"notation": "n1"}]
    assert tags(train) == [["http://x/2", "http://x/1"], []]


def test_csv(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", 'text,subject_uris\n"one, two",<http://x/1> http://x/2;v=1\nthree,\n')
    assert data.sniff(path) == "annif"
    read = data.read(path)
    assert read.documents.texts == ["one, two", "three"]
    assert tags(read) == [["http://x/1", "http://x/2;v=1"], []]
    ((_, labels),) = data.stream(path)
    assert labels == [["http://x/1", "http://x/2;v=1"], []]


@pytest.mark.parametrize("line", ["no tab", "text\tnot an address", "text\t<half"])
def test_bad_lines(tmp_path: Path, line: str) -> None:
    path = put(tmp_path / "a.tsv", f"fine\t<u:1>\n{line}\n")
    with pytest.raises(DataError, match=r"line 2: expected a text, a tab and subjects"):
        data.read(path)
