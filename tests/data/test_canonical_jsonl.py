from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longtail import data
from longtail.data import ReadOptions
from longtail.data.canonical_jsonl import _READ
from longtail.data.column_names import plain_name
from longtail.data.records import REVEALED
from longtail.errors import DataError, UsageError
from longtail.label_cells import MISSING
from longtail.types import Dataset, Documents, LabelSet, label_matrix
from tests.data.build import ANY_TEXT, matrix_dataset, put, same_matrix, tags


def lines(*records: object) -> bytes:
    return b"".join(orjson.dumps(record) + b"\n" for record in records)


def folder(tmp_path: Path, ending: str = "") -> Path:
    put(
        tmp_path / f"train.jsonl{ending}",
        lines(
            {"id": "a", "title": "T", "text": "one", "labels": ["y", "x", "y"], "year": 1999},
            {"id": 7, "text": "two", "labels": [3, "new"]},
        ),
    )
    put(tmp_path / f"test.jsonl{ending}", lines({"title": "only", "labels": ["other", "new"]}, {"id": "c"}))
    put(
        tmp_path / f"labels.jsonl{ending}",
        lines({"id": "x", "text": "X", "alt": ["ex"]}, {"id": "y"}, {"id": 3}),
    )
    put(tmp_path / f"filter_test.tsv{ending}", "0\tx\nc\tnew\nc\tnobody\ngone\tx\n0\tx\n")
    return tmp_path


@pytest.mark.parametrize("ending", ["", ".gz", ".xz"])
def test_reads_the_whole_folder(tmp_path: Path, ending: str) -> None:
    parts = data.read_folder(folder(tmp_path, ending))
    train, test = parts["train"], parts["test"]
    assert list(parts) == ["train", "test"]
    assert train.labels is test.labels
    assert train.labels.ids == ["x", "y", "3", "new", "other"]
    assert train.labels.texts == ["X", "", "", "", ""]
    assert train.labels.extra is not None
    assert train.labels.extra[0] == {"alt": ["ex"]}
    assert train.documents.ids == ["a", "7"]
    assert train.documents.joined() == ["T\none", "two"]
    assert train.documents[0].extra == {"year": 1999}
    assert tags(train) == [["x", "y"], ["3", "new"]]
    assert train.Y.data.tolist() == [1, 1, 1, 1]
    assert test.documents.ids == ["0", "c"]
    assert train.filtered is None
    assert test.filtered is not None
    assert test.filtered.toarray().tolist() == [[1, 0, 0, 0, 0], [0, 0, 0, 1, 0]]


def test_one_part_over_the_labels_of_a_model(tmp_path: Path) -> None:
    model = LabelSet(["other", "z"], ["O", "Z"])
    test = data.read(folder(tmp_path), part="test", labels=model)
    assert test.labels.ids == ["other", "z", "new"]
    assert tags(test) == [["other", "new"], []]
    assert test.filtered is not None
    assert test.filtered.toarray().tolist() == [[0, 0, 0], [0, 0, 1]]
    same = data.read(tmp_path / "test.jsonl", labels=LabelSet(["new", "other"], ["", ""]))
    assert len(same.labels) == 2


def test_other_names_of_the_keys(tmp_path: Path) -> None:
    path = put(tmp_path / "d.jsonl", lines({"uid": "u", "content": "c", "tags": "one"}))
    read = data.read(path)
    assert (read.documents.ids, read.documents.texts, tags(read)) == (["u"], ["c"], [["one"]])
    path = put(tmp_path / "e.jsonl", lines({"key": 1, "words": "w", "classes": "a; b", "id": "kept"}))
    options = ReadOptions(id_column="key", text_column="words", label_column="classes", label_separator=";")
    read = data.read(path, options=options)
    assert (read.documents.ids, read.documents.texts, tags(read)) == (["1"], ["w"], [["a", "b"]])
    assert read.documents[0].extra == {"id": "kept"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"text": "a"', "is not valid JSON"),
        (b"[1]", "expected a JSON object in braces, found a list"),
        (b'{"text": ["a"]}', "the text must be a string, not a list"),
        (b'{"labels": [["a"]]}', "a label must be a string, not a list"),
        (b'{"labels": [null]}', "a label must be a string, not null"),
        (b'{"labels": [true]}', "a label must be a string, not true or false"),
        (b'{"text": "\\ud800"}', "is not valid JSON"),
        (b'{"text": "\xed\xa0\x80"}', "is not valid UTF-8"),
        (b'{"text": "h\xe4"}', "is not valid UTF-8 .* --encoding cp1252"),
        (b'{"text": "a\0b"}', "NUL byte"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: bytes, message: str) -> None:
    path = put(tmp_path / "train.jsonl", b'{"text": "fine"}\n\n' + line + b"\n")
    with pytest.raises(DataError, match=message) as caught:
        data.read(path)
    assert f"{path}, line 3: " in str(caught.value)


def test_labels_named_twice_or_without_id(tmp_path: Path) -> None:
    put(tmp_path / "train.jsonl", lines({"text": "a"}))
    put(tmp_path / "labels.jsonl", lines({"id": "x"}, {"id": "y"}, {"id": "x"}))
    with pytest.raises(
        DataError, match=r"labels.jsonl, line 3: the label id 'x' is there twice \(first in line 1\)"
    ):
        data.read_folder(tmp_path)
    put(tmp_path / "labels.jsonl", lines({"text": "x"}))
    with pytest.raises(DataError, match='line 1: the label has no "id"'):
        data.read_folder(tmp_path)


def test_malformed_filter(tmp_path: Path) -> None:
    folder(tmp_path)
    put(tmp_path / "filter_test.tsv", "c\tx\nc\n")
    with pytest.raises(DataError, match=r"filter_test.tsv, line 2: expected a document id"):
        data.read_folder(tmp_path)


def test_two_files_of_one_part(tmp_path: Path) -> None:
    folder(tmp_path)
    put(tmp_path / "train.jsonl.gz", lines({"text": "a"}))
    with pytest.raises(DataError, match=r"both train.jsonl and train.jsonl.gz are there"):
        data.read_folder(tmp_path)


def test_a_huge_line(tmp_path: Path) -> None:
    path = put(tmp_path / "d.jsonl.xz", lines({"text": "x" * 10_000_000}))
    assert len(data.read(path).documents.texts[0]) == 10_000_000


def test_feature_rows_and_foreign_values_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="xmc, xmc-split or pecos"):
        data.write({"train": matrix_dataset(3, 3, 2, 0)}, tmp_path / "out")
    bad = Documents.of(["fine \ud800"])
    labels = LabelSet([], [])
    with pytest.raises(DataError, match="document '0' cannot be written as JSON"):
        data.write({"train": Dataset(bad, labels, label_matrix([[]], labels))}, tmp_path / "out")
    assert not (tmp_path / "out").exists()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3),
)
KEYS = ANY_TEXT.filter(lambda key: plain_name(key) not in {*_READ, REVEALED})
EXTRA = st.dictionaries(KEYS, JSON, max_size=2)


@st.composite
def datasets(draw: st.DrawFn) -> dict[str, Dataset]:
    ids = draw(st.lists(ANY_TEXT.filter(lambda id_: id_ not in MISSING), unique=True, max_size=5))
    texts = draw(st.lists(ANY_TEXT, min_size=len(ids), max_size=len(ids)))
    extras = draw(st.lists(EXTRA, min_size=len(ids), max_size=len(ids)))
    labels = LabelSet(ids, texts, extras if any(extras) else None)
    parts = {}
    for name in ("train", "valid", "test")[: draw(st.integers(1, 3))]:
        n = draw(st.integers(1, 4))
        column = st.lists(ANY_TEXT, min_size=n, max_size=n)
        some = st.lists(st.sampled_from(ids), unique=True) if ids else st.just([])
        own, known = (draw(st.lists(some, min_size=n, max_size=n)) for _ in range(2))
        extra = draw(st.lists(EXTRA, min_size=n, max_size=n))
        documents = Documents(draw(column), draw(column), draw(column), None, extra if any(extra) else None)
        revealed = label_matrix(known, labels) if any(known) else None
        parts[name] = Dataset(documents, labels, label_matrix(own, labels), revealed=revealed)
    return parts


@given(datasets())
@settings(max_examples=60, deadline=None)
def test_what_is_written_is_read_again(parts: dict[str, Dataset]) -> None:
    with tempfile.TemporaryDirectory() as place:
        data.write(parts, Path(place) / "out")
        again = data.read_folder(Path(place) / "out")
    assert list(again) == list(parts)
    for name, part in parts.items():
        assert again[name].fingerprint() == part.fingerprint()
        assert again[name].documents.extra == part.documents.extra
        assert again[name].labels.extra == part.labels.extra
        assert (again[name].revealed is None) is (part.revealed is None)
        assert part.revealed is None or same_matrix(again[name].revealed, part.revealed)


def test_filters_are_written_and_read(tmp_path: Path) -> None:
    parts = data.read_folder(folder(tmp_path / "in"))
    data.write(parts, tmp_path / "out")
    again = data.read_folder(tmp_path / "out")
    assert again["train"].filtered is None
    assert again["test"].filtered is not None
    assert parts["test"].filtered is not None
    assert same_matrix(again["test"].filtered, parts["test"].filtered)


def test_revealed_labels_come_behind_all_others(tmp_path: Path) -> None:
    rows = [{"text": "a", "labels": ["y"], "revealed": ["r", "x"]}, {"text": "b", "labels": ["x"], "more": 1}]
    put(tmp_path / "train.jsonl", lines({"text": "c"}))
    put(tmp_path / "test.jsonl", lines(*rows, {"text": "c", "labels": [], "revealed": "r"}))
    parts = data.read_folder(tmp_path)
    test = parts["test"]
    assert parts["train"].revealed is None
    assert test.labels.ids == ["y", "x", "r"]
    assert test.Y.toarray().tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert test.revealed is not None
    assert test.revealed.toarray().tolist() == [[0, 1, 1], [0, 0, 0], [0, 0, 1]]
    assert test.documents.extra == [{}, {"more": 1}, {}]
    # A stream knows of no label set: the ids stay with the documents.
    ((documents, labels),) = data.stream(tmp_path / "test.jsonl")
    assert documents.extra == [{"revealed": ["r", "x"]}, {"more": 1}, {"revealed": ["r"]}]
    assert labels == [["y"], ["x"], []]


def test_revealed_labels_that_are_none(tmp_path: Path) -> None:
    path = put(tmp_path / "train.jsonl", lines({"text": "a"}, {"text": "b", "revealed": [None]}))
    with pytest.raises(DataError, match=r"train.jsonl, line 2: a label must be a string, not null"):
        data.read(path)
    put(path, lines({"text": "a", "revealed": None}, {"text": "b", "revealed": []}))
    assert data.read(path).revealed is None


def test_edges_are_written_once(tmp_path: Path) -> None:
    parts = data.read_folder(folder(tmp_path / "in"))
    edges = data.Edges(["a"], ["x"], np.array([0.5], np.float32))
    data.write({name: replace(part, edges=edges) for name, part in parts.items()}, tmp_path / "out")
    again = data.read_folder(tmp_path / "out")
    assert (tmp_path / "out" / "edges.tsv").read_text() == "a\tx\t0.5\n"
    assert all(part.edges == edges for part in again.values())
