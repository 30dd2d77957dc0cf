from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from longtail.lazy_strings import AT_ONCE, LAZY_ABOVE, LazyStrings, at, joined_with, strings_at


def numbers(n: int) -> tuple[LazyStrings, list[int]]:
    """The strings "0" to n - 1, and the number of strings of each time that some were made."""
    made: list[int] = []

    def read(rows: np.ndarray) -> list[str]:
        made.append(len(rows))
        return [str(row) for row in rows]

    return LazyStrings(n, read), made


def test_it_is_a_sequence() -> None:
    column, _ = numbers(3 * AT_ONCE + 1)
    every = [str(i) for i in range(3 * AT_ONCE + 1)]
    assert list(column) == every
    assert (column[5], column[-1], column[2:9:3], len(column)) == (
        every[5],
        every[-1],
        every[2:9:3],
        len(every),
    )
    with pytest.raises(IndexError, match="none is"):
        column[len(every)]


def test_only_what_is_asked_for_is_made() -> None:
    column, made = numbers(10 * AT_ONCE)
    next(iter(column))
    assert made == [AT_ONCE]
    some = column.take(np.arange(0, 10 * AT_ONCE, 2))
    assert made == [AT_ONCE]
    assert some[3] == "6"
    assert made == [AT_ONCE, 1]
    assert list(some.take(np.array([1, 2]))) == ["2", "4"]


def test_two_columns_become_one() -> None:
    column, _ = numbers(5)
    both = joined_with(
        ["a", "b", "c", "d", "e"], column, lambda x, y: [p + q for p, q in zip(x, y, strict=True)]
    )
    assert both[1:4] == ["b1", "c2", "d3"]
    assert at(both, np.array([4, 0])) == ["e4", "a0"]


def test_many_strings_stay_where_they_are() -> None:
    column, made = numbers(2 * LAZY_ABOVE)
    few = strings_at(cast("list[str]", column), [3, 1])
    assert few == ["3", "1"]
    made.clear()
    many = strings_at(cast("list[str]", column), list(range(LAZY_ABOVE + 1)))
    assert isinstance(many, LazyStrings)
    assert not made
