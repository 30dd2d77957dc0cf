from __future__ import annotations

import io
import os
import sys
import threading
from pathlib import Path

import pytest
from scipy.sparse import csr_array, save_npz

from longtail.data import ReadOptions, Understood, read, stream
from longtail.data.standard_input import is_pipe, pipe_as_file
from longtail.errors import DataError, UsageError


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
        (b'["a", "b"]\n', "is a JSON array"),
        (b"<?xml version='1.0'?>\n<a/>\n", "is XML"),
        (b"0,2\tred shoes\n", "say which with --format text2text or --format text .predict: --input-format"),
        (b"d1\tred shoes\nd2\ta hat\n", "tabs in every line"),
        (b"head,group\nred shoes,x\na hat,y\n", "names of columns .head, group., of which none is known"),
        (b"text\na\n", "may be the names of columns .text. or a text"),
        (
            b"text,foo\na,b\n",
            "may be the names of columns .text, foo. or a text: say which with --format table",
        ),
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


SPARSE = b"2 4 3\n0,2 0:0.5 3:1.0\n1 1:0.7\n"


@pytest.mark.parametrize(
    ("content", "kind", "texts"),
    [
        (b"__label__a red shoes\na hat\n", "fasttext", ["red shoes", "a hat"]),
        (b"red shoes\t<http://example.org/1>\n", "annif", ["red shoes"]),
        (b"text,subject_uris\nred shoes,<http://example.org/1>\n", "annif", ["red shoes"]),
        (b'{"uid": "B1", "title": "Red", "content": "shoes", "target_ind": [0]}\n', "xmc-raw", ["shoes"]),
        (b"1 2\na cat\n", "text", ["1 2", "a cat"]),
        (b"[1] a reference, and more\n", "text", ["[1] a reference, and more"]),
        (b"a\tb\nc d\n", "text", ["a\tb", "c d"]),
        (b"\n\na cat\n", "text", ["", "", "a cat"]),
    ],
)
def test_every_format_is_recognised(
    monkeypatch: pytest.MonkeyPatch, content: bytes, kind: str, texts: list[str]
) -> None:
    piped(monkeypatch, content)
    noted: list[Understood] = []
    ((documents, _),) = stream("-", options=ReadOptions(with_labels=False), note=noted.append)
    assert (noted[0].format, noted[0].path, documents.texts) == (kind, "standard input", texts)


def test_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    split = b"2 4\n0:0.5 3:1.0\n1:0.7\n"
    for content, kind in ((SPARSE, "xmc"), (split, "xmc-split"), (npz(), "pecos")):
        piped(monkeypatch, content)
        noted: list[Understood] = []
        ((documents, _),) = stream("-", note=noted.append)
        assert noted[0].format == kind
        assert documents.features is not None
        assert documents.features.toarray().tolist() == [[0.5, 0, 0, 1], [0, pytest.approx(0.7), 0, 0]]


def npz() -> bytes:
    rows = csr_array([[0.5, 0, 0, 1], [0, 0.7, 0, 0]])
    handle = io.BytesIO()
    save_npz(handle, rows)
    return handle.getvalue()


def test_parquet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    pq.write_table(pa.table({"id": ["7"], "text": ["a cat"], "labels": [["x", "y"]]}), tmp_path / "a.parquet")
    piped(monkeypatch, (tmp_path / "a.parquet").read_bytes())
    noted: list[Understood] = []
    ((documents, labels),) = stream("-", note=noted.append)
    assert (documents.ids, documents.texts, labels) == (["7"], ["a cat"], [["x", "y"]])
    assert noted[0].line().startswith("standard input: table; id: id; title: none; text: text")


@pytest.mark.parametrize(
    ("format", "content", "texts"),
    [
        ("text", SPARSE, ["2 4 3", "0,2 0:0.5 3:1.0", "1 1:0.7"]),
        ("text", b"id,text\n1,a\n", ["id,text", "1,a"]),
        ("text2text", b"0,2\tred shoes\n", ["red shoes"]),
        ("text", b"0,2\tred shoes\n", ["0,2\tred shoes"]),
        ("table", b"text\na\n", ["a"]),
    ],
)
def test_a_named_format_is_taken(
    monkeypatch: pytest.MonkeyPatch, format: str, content: bytes, texts: list[str]
) -> None:
    piped(monkeypatch, content)
    ((documents, _),) = stream("-", format=format, options=ReadOptions(with_labels=False))
    assert documents.texts == texts


def test_errors_name_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for content, message in (
        (b"2 4 3\n0,2 9:0.5\n1 1:0.7\n", "^standard input, line 2: "),
        (b"PAR1 is not enough", "^standard input: "),
        (b"PK\x03\x04 neither", "^standard input: "),
        (b"a\0b\n", "^-, line 1: there is a NUL byte|^standard input, line 1"),
    ):
        piped(monkeypatch, content)
        with pytest.raises(DataError, match=message):
            list(stream("-"))
    piped(monkeypatch, b"")
    with pytest.raises(UsageError, match="there is no format 'nonsense'"):
        stream("-", format="nonsense")


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"id,text,labels\n", "documents.csv"),
        (b"title\ttags\n", "documents.tsv"),
        (b'{"text": "a"}\n', "documents.jsonl"),
        (SPARSE, "documents.txt"),
        (b"0,2\tred shoes\n", "documents.txt"),
        (b"text\n", "standard-input"),
        (b"PAR1", "documents.parquet"),
    ],
)
def test_a_file_has_a_name_by_which_it_is_recognised(
    monkeypatch: pytest.MonkeyPatch, content: bytes, name: str
) -> None:
    piped(monkeypatch, content)
    with pipe_as_file() as place:
        assert (place.name, place.read_bytes()) == (name, content)
    assert not place.parent.exists()


def through_fifo(path: Path, content: bytes) -> Path:
    os.mkfifo(path)
    threading.Thread(target=lambda: path.write_bytes(content), daemon=True).start()
    return path


def test_a_pipe_with_a_name_is_read_once(tmp_path: Path) -> None:
    lines = b"".join(b'{"text": "text %d", "labels": ["x"]}\n' % n for n in range(3000))
    noted: list[Understood] = []
    path = through_fifo(tmp_path / "one", lines)
    assert sum(len(documents) for documents, _ in stream(path, note=noted.append)) == 3000
    assert (noted[0].path, noted[0].format) == (str(path), "jsonl")
    assert len(read(through_fifo(tmp_path / "two", lines))) == 3000
    assert len(read(through_fifo(tmp_path / "three", b"id,text,labels\n1,a,x\n"))) == 1
    numbered = b"0\tred shoes\n1\ta hat\n"
    ((documents, _),) = stream(through_fifo(tmp_path / "four", numbered), format="text2text")
    assert documents.texts == ["red shoes", "a hat"]
    with pytest.raises(DataError, match=r"^.*/five, line 2: is not valid JSON"):
        read(through_fifo(tmp_path / "five", b'{"text": "a"}\n{"text":\n'))


def test_what_is_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    assert is_pipe(tmp_path / "pipe")
    for other in (tmp_path, tmp_path / "file", tmp_path / "nothing", "a\0b"):
        assert not is_pipe(other)
    with pytest.raises(DataError, match="/dev/zero: is a device: name a file, or a pipe"):
        list(stream("/dev/zero"))
