from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail.data.sparse_text import read_shape, read_sparse, sparse_blocks, write_sparse
from longtail.errors import DataError
from tests.data.build import matrix_dataset, put, same_matrix

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False).filter(lambda x: x != 0)


def test_labels_and_features(tmp_path: Path) -> None:
    text = "\ufeff5 4 3\r\n0,2 0:1 3:2.5e-1\r\n 1:-.5\n2:7\n1\n\n\n"
    rows = read_sparse(put(tmp_path / "a.txt.gz", text), has_labels=True)
    assert rows.entries.toarray().tolist() == [
        [1, 0, 0, 0.25],
        [0, -0.5, 0, 0],
        [0, 0, 7, 0],
        [0] * 4,
        [0] * 4,
    ]
    assert rows.labels.toarray().tolist() == [[1, 0, 1], [0] * 3, [0] * 3, [0, 1, 0], [0] * 3]
    assert rows.entries.dtype == rows.labels.dtype == np.float32


def test_repeated_features_add_up_and_labels_do_not(tmp_path: Path) -> None:
    rows = read_sparse(put(tmp_path / "a.txt", "1 2 2\n1,1 0:1 0:2"), has_labels=True)
    assert rows.entries.toarray().tolist() == [[3, 0]]
    assert rows.labels.toarray().tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("number", "value"),
    [
        ("1", 1),
        ("-2.50", -2.5),
        ("+3", 3),
        (".5", 0.5),
        ("5.", 5),
        ("1E3", 1000),
        ("0.1", 0.1),
        ("1e-45", 1e-45),
        ("0.000000000000000000000000123", 1.23e-25),
        ("123456789012345678901234567890", 1.2345679e29),
        ("3.4028235e38", 3.4028235e38),
        ("0e99999", 0),
        ("1e-99999", 0),
    ],
)
def test_numbers(tmp_path: Path, number: str, value: float) -> None:
    rows = read_sparse(put(tmp_path / "a.txt", f"1 1\n0:{number}\n"), has_labels=False)
    assert rows.entries.toarray()[0, 0] == np.float32(value)


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("0 0:1\n0 -1:1\n", 3, "an index is negative"),
        ("0 0:1\n0 4:1\n", 3, "an index is not below the 4 columns"),
        ("0 99999999999999999999:1\n0 0:1\n", 2, "an index is not below the 4 columns"),
        ("3 0:1\n0 0:1\n", 2, "a label is not below the 3 labels"),
        ("-1 0:1\n0 0:1\n", 2, "an index is negative"),
        ("0 0:nan\n0 0:1\n", 2, "a value is not a finite number"),
        ("0 0:1\n0 0:-inf\n", 3, "a value is not a finite number"),
        ("0 0:1e39\n0 0:1\n", 2, "a value is not a finite number"),
        ("0 0:1\n0 0:x\n", 3, "expected labels as 1,4"),
        ("0 0:1\n0 0:1x\n", 3, "expected labels as 1,4"),
        ("0 0:1\n0 0:1e\n", 3, "expected labels as 1,4"),
        ("0 0:1\n0 0:\n", 3, "expected labels as 1,4"),
        ("0 0:1\nspam 0:1\n", 3, "expected labels as 1,4"),
        ("0 0:1\n0, 0:1\n", 3, "expected labels as 1,4"),
        ("0 0:1\n0 1\n", 3, "expected index:value"),
        ("0 0:1\n0 \x000:1\n", 3, "expected labels as 1,4"),
        ("0 0:1\n", 1, "the header promises 2 rows, but there are 1"),
        ("0 0:1\n0 0:1\n0 0:1\n", 4, "the header promises 2 rows, but there are more"),
        ("0 0:1\n0 0:1\n0\n", 4, "the header promises 2 rows, but there are more"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, body: str, line: int, message: str) -> None:
    path = put(tmp_path / "a.txt", f"2 4 3\n{body}")
    with pytest.raises(DataError, match=message) as caught:
        read_sparse(path, has_labels=True)
    assert caught.value.line == line
    assert caught.value.path == path


@pytest.mark.parametrize("header", ["", "2 4", "2 4 3 1", "a b c", "2 -4 3", "2 4 9999999999"])
def test_wrong_headers(tmp_path: Path, header: str) -> None:
    with pytest.raises(DataError, match=r"line 1: the header"):
        read_sparse(put(tmp_path / "a.txt", f"{header}\n0 0:1\n"), has_labels=True)


def test_a_line_number_in_a_later_block(tmp_path: Path) -> None:
    path = put(tmp_path / "a.txt", "4 4\n0:1\n1:1\n9:1\n0:1\n")
    with pytest.raises(DataError) as caught:
        list(sparse_blocks(path, has_labels=False, block_bytes=5))
    assert caught.value.line == 4


@given(st.integers(1, 200))
@settings(max_examples=15, deadline=None)
def test_blocks_of_any_size_give_the_same_rows(size: int) -> None:
    data = matrix_dataset(12, 7, 5, seed=3)
    assert data.documents.features is not None
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "a.txt"
        write_sparse(path, data.documents.features, data.Y)
        blocks = list(sparse_blocks(path, has_labels=True, block_bytes=size))
    whole = np.concatenate([block.entries.toarray() for block in blocks])
    assert np.array_equal(whole, data.documents.features.toarray())
    assert np.array_equal(np.concatenate([block.labels.toarray() for block in blocks]), data.Y.toarray())


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 6), FLOATS), max_size=4, unique_by=lambda cell: cell[0]), min_size=1
    )
)
@settings(max_examples=60, deadline=None)
def test_every_float_is_read_as_it_was_written(rows: list[list[tuple[int, float]]]) -> None:
    dense = np.zeros((len(rows), 7), np.float32)
    for at, row in enumerate(rows):
        for column, value in row:
            dense[at, column] = value
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "a.txt"
        write_sparse(path, csr_array(dense))
        assert same_matrix(read_sparse(path, has_labels=False).entries, csr_array(dense))


def test_shape_of_a_header() -> None:
    assert read_shape("1 2  3\n") == (1, 2, 3)
    assert read_shape("1 2:3") is None
    assert read_shape("") is None
    assert read_shape("²") is None
