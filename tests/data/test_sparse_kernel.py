from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.data import sparse_kernel as kernel


class Parsed(NamedTuple):
    rows: int
    error: int
    entries: list[list[tuple[int, float]]]
    labels: list[list[int]]


def parse(text: str, *, has_labels: bool = True, n_columns: int = 10, n_labels: int = 10) -> Parsed:
    """The rows that were parsed before the error, if there is one."""
    data = np.frombuffer(text.encode(), np.uint8)
    n = text.count("\n") + 1
    ends, label_ends = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    columns, values = np.empty(text.count(":"), np.int32), np.empty(text.count(":"), np.float32)
    labels = np.empty(n + text.count(","), np.int32)
    rows, error = kernel.parse_rows(
        data, has_labels, n_columns, n_labels, ends, columns, values, label_ends, labels
    )
    cells = list(zip(columns.tolist(), values.tolist(), strict=True))
    return Parsed(
        rows,
        error,
        [cells[ends[row] : ends[row + 1]] for row in range(rows)],
        [labels[label_ends[row] : label_ends[row + 1]].tolist() for row in range(rows)],
    )


@pytest.mark.parametrize(
    ("text", "entries", "labels"),
    [
        ("", [], []),
        ("\n", [[]], [[]]),
        ("3\n", [[]], [[3]]),
        ("1,4 0:0.5 7:1e-3\n", [[(0, 0.5), (7, float(np.float32(1e-3)))]], [[1, 4]]),
        ("0:1\n", [[(0, 1)]], [[]]),
        (" 0:1\n", [[(0, 1)]], [[]]),
        ("2\t0:1  1:2 \r\n", [[(0, 1), (1, 2)]], [[2]]),
        ("1 9:-2\n\n5 0:3\n", [[(9, -2)], [], [(0, 3)]], [[1], [], [5]]),
        ("4,4 3:1 3:1\n", [[(3, 1), (3, 1)]], [[4, 4]]),
        ("007 008:1\n", [[(8, 1)]], [[7]]),
    ],
)
def test_lines(text: str, entries: list[list[tuple[int, float]]], labels: list[list[int]]) -> None:
    assert parse(text) == (len(entries), kernel.OK, entries, labels)


def test_without_labels_the_first_word_is_an_entry() -> None:
    assert parse("3:1 4:2\n", has_labels=False).entries == [[(3, 1), (4, 2)]]
    assert parse("3 4:2\n", has_labels=False).error == kernel.NO_COLON


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("x 0:1", kernel.NOT_A_NUMBER),
        ("1,,2 0:1", kernel.NOT_A_NUMBER),
        ("1, 0:1", kernel.NOT_A_NUMBER),
        ("1,", kernel.NOT_A_NUMBER),
        ("1;2 0:1", kernel.NOT_A_NUMBER),
        ("+1 0:1", kernel.NOT_A_NUMBER),
        ("1 :1", kernel.NOT_A_NUMBER),
        ("1 0:", kernel.NOT_A_NUMBER),
        ("1 0:.", kernel.NOT_A_NUMBER),
        ("1 0:-", kernel.NOT_A_NUMBER),
        ("1 0:1e", kernel.NOT_A_NUMBER),
        ("1 0:1e+", kernel.NOT_A_NUMBER),
        ("1 0:1.2.3", kernel.NOT_A_NUMBER),
        ("1 0:1,2", kernel.NOT_A_NUMBER),
        ("1 0:1:2", kernel.NOT_A_NUMBER),
        ("1 0:0x1", kernel.NOT_A_NUMBER),
        ("-1 0:1", kernel.NEGATIVE),
        ("1 -1:1", kernel.NEGATIVE),
        ("1 10:1", kernel.COLUMN_TOO_LARGE),
        ("1 99999999999999999999999:1", kernel.COLUMN_TOO_LARGE),
        ("10 0:1", kernel.LABEL_TOO_LARGE),
        ("1,18446744073709551617 0:1", kernel.LABEL_TOO_LARGE),
        ("1 0:nan", kernel.NOT_FINITE),
        ("1 0:-Inf", kernel.NOT_FINITE),
        ("1 0:1e39", kernel.NOT_FINITE),
        ("1 0:-1e999999999999", kernel.NOT_FINITE),
        ("1 0:3.4028236e38", kernel.NOT_FINITE),
        ("1 2", kernel.NO_COLON),
    ],
)
def test_what_is_wrong_is_told_with_the_rows_before_it(line: str, error: int) -> None:
    found = parse(f"1 0:1\n2 1:2\n{line}\n3 0:1\n")
    assert (found.rows, found.error) == (2, error)
    assert found.entries == [[(0, 1)], [(1, 2)]]
    assert found.labels == [[1], [2]]


def test_the_errors_differ() -> None:
    names = [
        "OK",
        "NOT_A_NUMBER",
        "NEGATIVE",
        "COLUMN_TOO_LARGE",
        "NOT_FINITE",
        "NO_COLON",
        "LABEL_TOO_LARGE",
    ]
    assert len({getattr(kernel, name) for name in names}) == len(names)


def test_no_columns_and_no_labels_at_all() -> None:
    assert parse("0\n", n_labels=0).error == kernel.LABEL_TOO_LARGE
    assert parse("0:1\n", n_columns=0).error == kernel.COLUMN_TOO_LARGE
    assert parse("\n", n_labels=0, n_columns=0).error == kernel.OK


DECIMALS = st.from_regex(
    r"[+-]?([0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?", fullmatch=True
)


@given(DECIMALS.filter(str.isascii))
def test_any_decimal_is_the_nearest_float_or_its_neighbour(number: str) -> None:
    with np.errstate(over="ignore"):
        nearest = np.float32(float(number))
    found = parse(f"0:{number}\n")
    if np.isinf(nearest):
        assert found.error == kernel.NOT_FINITE
        return
    assert found.error == kernel.OK
    value = np.float32(found.entries[0][0][1])
    assert value in (
        nearest,
        np.nextafter(nearest, np.float32(np.inf)),
        np.nextafter(nearest, -np.float32(np.inf)),
    )


ROWS = st.lists(
    st.tuples(
        st.lists(st.integers(0, 9), max_size=3),
        st.lists(st.tuples(st.integers(0, 9), st.integers(-999, 999)), max_size=3),
    ),
    max_size=5,
)


@given(ROWS)
def test_what_was_written_is_parsed(rows: list[tuple[list[int], list[tuple[int, int]]]]) -> None:
    lines = [
        f"{','.join(map(str, labels))} {' '.join(f'{column}:{value}' for column, value in cells)}\n"
        for labels, cells in rows
    ]
    found = parse("".join(lines))
    assert found == (len(rows), kernel.OK, [cells for _, cells in rows], [labels for labels, _ in rows])


@given(st.text(st.sampled_from("0123456789,:.eE+- \t\rnax"), max_size=30), st.booleans())
def test_no_line_makes_it_leave_its_arrays(line: str, has_labels: bool) -> None:
    found = parse(f"{line}\n0:1\n", has_labels=has_labels)
    assert found.rows == 2 if found.error == kernel.OK else found.rows in (0, 1)
    if found.error == kernel.OK:
        assert len(found.entries[0]) == line.count(":")
        assert found.entries[1] == [(0, 1)]
