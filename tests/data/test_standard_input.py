from __future__ import annotations

import io
import sys

import pytest

from longtail.data import ReadOptions, Understood, stream
from longtail.data.standard_input import ending_of
from longtail.errors import DataError


def piped(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))


def test_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    piped(monkeypatch, b"id;text;tags\n7;a cat;x|y\n")
    noted: list[Understood] = []
    ((documents, labels),) = stream("-", note=noted.append)
    assert (documents.ids, documents.texts, labels) == (["7"], ["a cat"], [["x", "y"]])
    assert noted[0].line().startswith("standard input: table; id: id; title: none; text: text")


def test_texts_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    piped(monkeypatch, b"a cat, a dog\na text, a title\n")
    ((documents, _),) = stream("-")
    assert documents.texts == ["a cat, a dog", "a text, a title"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'[{"text": "a"}]\n', "is a JSON array: write one object per line"),
        (b"[\n{}\n]\n", "is a JSON array"),
        (b"text\na\n", "may be the names of columns .text. or a text"),
        (b"text,foo\na,b\n", "may be the names of columns .* --input-format table"),
        (b'{"foo": "bar"}\n', "standard input: none of the keys foo is the text"),
    ],
)
def test_doubt_is_an_error(monkeypatch: pytest.MonkeyPatch, content: bytes, message: str) -> None:
    piped(monkeypatch, content)
    with pytest.raises(DataError, match=message):
        list(stream("-", options=ReadOptions(with_labels=False)))


def test_a_table_in_another_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[Understood] = []
    for content, encoding in (("cp1252", "cp1252"), ("utf-16", "utf-8")):
        piped(monkeypatch, "text;labels\nKäse;x\n".encode(content))
        options = ReadOptions(with_labels=False, encoding=encoding)
        ((documents, _),) = stream("-", options=options, note=noted.append)
        assert documents.texts == ["Käse"]
    assert [found.encoding for found in noted] == ["cp1252", "utf-8"]


def test_endings_of_tables() -> None:
    assert ending_of(b"id,text,labels") == ".csv"
    assert ending_of("Titel;Schlagwörter".encode()) == ".csv"
    assert ending_of(b"title\ttags") == ".tsv"
    for other in (b"", b'{"text": "a"}', b"a text, and more", b"text", b"2 4 3", b"__label__a text, title"):
        assert ending_of(other) == ""
