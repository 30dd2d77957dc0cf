from __future__ import annotations

import numpy as np
import pytest

from longtail.data.encoding import HINT
from longtail.data.records import (
    Record,
    batches,
    batches_of_blocks,
    collect,
    collect_blocks,
    fail,
    grouped,
    growing,
    parsed,
)
from longtail.errors import DataError


def test_columns_of_records() -> None:
    index = {"z": 0}
    rows = [Record(labels=["b", "z", "b"]), Record("own", labels=["a"], weights=[0.5]), Record(labels=["b"])]
    found = collect(enumerate(rows, 1), index)
    assert index == {"z": 0, "b": 1, "a": 2}
    assert found.documents.ids == ["0", "own", "2"]
    assert found.numbered
    assert found.lines.tolist() == [1, 2, 3]
    assert found.matrix(4).toarray().tolist() == [[1, 1, 0, 0], [0, 0, 0.5, 0], [0, 1, 0, 0]]


def test_weights_of_some_blocks_only() -> None:
    rows = [Record(labels=["a"]), Record(labels=["a", "b"], weights=[0.5, 2.0]), Record(labels=["b"])]
    found = collect_blocks(grouped(enumerate(rows), 1), growing({}))
    assert found.matrix(2).toarray().tolist() == [[1, 0], [0.5, 2], [0, 1]]


def test_new_labels_get_the_next_column() -> None:
    index = growing({"z": 0})
    assert [index[label] for label in "bzab"] == [1, 0, 2, 1]


def test_batches_do_not_depend_on_blocks() -> None:
    rows = [
        Record(None if i % 2 else f"d{i}", labels=["x"] * i, extra={"i": i} if i == 3 else {})
        for i in range(7)
    ]

    def shown(size: int, block: int) -> list[object]:
        found = batches_of_blocks(grouped(enumerate(rows), block), size)
        return [(documents.ids, documents.extra, labels) for documents, labels in found]

    assert [ids for ids, _, _ in shown(3, 2)] == [["d0", "1", "d2"], ["3", "d4", "5"], ["d6"]]
    for size in (1, 3, 7, 20):
        assert all(shown(size, block) == shown(size, size) for block in (1, 2, 5, 9))


def test_a_weight_of_zero_is_no_label() -> None:
    found = collect([(1, Record(labels=["a", "b"], weights=[0.0, 2.0]))], {})
    matrix = found.matrix(2)
    assert matrix.nnz == 1
    assert matrix.dtype == np.float32


def test_nothing() -> None:
    found = collect([], {})
    assert found.matrix(3).shape == (0, 3)
    assert list(batches([], 2)) == []


def test_problems_are_reported_and_reading_goes_on() -> None:
    def parse(line: bytes) -> Record:
        if line == b"bad":
            raise ValueError("is bad")
        return Record(line.decode("utf-8"))

    problems: list[DataError] = []
    lines = list(enumerate([b"a", b"bad", b"", b"\xff", b"  ", b"b"], 1))
    assert [number for number, _ in parsed(lines, parse, "f", problems.append)] == [1, 6]
    assert [str(problem) for problem in problems] == [
        "f, line 2: is bad",
        f"f, line 4: is not valid UTF-8 (byte 1); {HINT}",
    ]
    with pytest.raises(DataError, match="f, line 2: is bad"):
        list(parsed(lines, parse, "f", fail))
