from __future__ import annotations

import numpy as np
import pytest

from longtail.data.records import Record, batches, collect, fail, parsed
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
        "f, line 4: is not valid UTF-8 (byte 1)",
    ]
    with pytest.raises(DataError, match="f, line 2: is bad"):
        list(parsed(lines, parse, "f", fail))
