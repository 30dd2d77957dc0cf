from __future__ import annotations

import io
import sys

import pytest

from longtail.data import ReadOptions, Understood, stream
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
        (b"text,foo\na,b\n", "may be the names of columns .* --input-format table"),
        (b'{"foo": "bar"}\n', "standard input: none of the keys foo is the text"),
    ],
)
def test_doubt_is_an_error(monkeypatch: pytest.MonkeyPatch, content: bytes, message: str) -> None:
    piped(monkeypatch, content)
    with pytest.raises(DataError, match=message):
        list(stream("-", options=ReadOptions(with_labels=False)))
