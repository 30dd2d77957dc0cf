from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from longtail import data
from longtail.errors import DataError
from tests.data.build import put, tags


def lines(*records: object) -> bytes:
    return b"".join(orjson.dumps(record) + b"\n" for record in records)


def folder(tmp_path: Path) -> Path:
    first = {"uid": "d1", "title": "T", "content": "C", "target_ind": [2, 0], "target_rel": [1.0, 1.0]}
    second = {"uid": "d2", "title": "U", "target_ind": [1], "target_rel": [0.5]}
    put(tmp_path / "trn.json.gz", lines(first, second))
    put(tmp_path / "tst.json.gz", lines({"uid": "d3", "title": "V", "content": "", "target_ind": []}))
    put(
        tmp_path / "lbl.json.gz",
        lines({"uid": "a", "title": "A"}, {"uid": "b", "title": "B", "content": "x"}, {"uid": "c"}),
    )
    put(tmp_path / "filter_labels_train.txt", "1 2\n")
    put(tmp_path / "tst_filter_labels.txt", "0 1\n")
    return tmp_path


def test_reads_texts_labels_and_filters(tmp_path: Path) -> None:
    assert data.sniff(folder(tmp_path)) == "xmc-raw"
    parts = data.read_folder(tmp_path)
    train, test = parts["train"], parts["test"]
    assert train.documents.ids == ["d1", "d2"]
    assert train.documents.joined() == ["T\nC", "U"]
    assert train.labels.ids == ["a", "b", "c"]
    assert train.labels.texts == ["A", "B", ""]
    assert tags(train) == [["a", "c"], ["b"]]
    assert train.Y.data.tolist() == [1, 1, 0.5]
    assert train.filtered is not None
    assert train.filtered.toarray().tolist() == [[0, 0, 0], [0, 0, 1]]
    assert test.filtered is not None
    assert test.filtered.toarray().tolist() == [[0, 1, 0]]


def test_one_file_uses_the_labels_beside_it(tmp_path: Path) -> None:
    path = folder(tmp_path) / "trn.json.gz"
    assert data.sniff(path) == "xmc-raw"
    assert tags(data.read(path)) == [["a", "c"], ["b"]]
    ((documents, labels),) = data.stream(path)
    assert documents.titles == ["T", "U"]
    assert labels == [["c", "a"], ["b"]]


def test_without_a_file_of_labels_they_are_numbers(tmp_path: Path) -> None:
    (folder(tmp_path) / "lbl.json.gz").unlink()
    train = data.read_folder(tmp_path)["train"]
    assert train.labels.ids == ["2", "0", "1"]
    assert train.filtered is not None
    assert train.filtered.toarray().tolist() == [[0, 0, 0], [1, 0, 0]]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"target_ind": [3]}, "the label 3 is not below the 3 labels"),
        ({"target_ind": [-1]}, "a label must be a whole number from 0, not -1"),
        ({"target_ind": ["a"]}, "a label must be a whole number from 0, not 'a'"),
        ({"target_ind": [0, 1], "target_rel": [0.5]}, "there are 2 labels but 1 weights"),
        ({"target_ind": [0], "target_rel": [-2]}, "weight must be a finite number"),
    ],
)
def test_bad_targets(tmp_path: Path, record: dict[str, object], message: str) -> None:
    put(folder(tmp_path) / "trn.json.gz", lines({"title": "fine"}, record))
    with pytest.raises(DataError, match=message) as caught:
        data.read_folder(tmp_path)
    assert caught.value.line == 2
