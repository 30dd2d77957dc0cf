"""A column of strings that are made when they are asked for, some at a time: texts that stay on the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np

AT_ONCE = 64
"""Strings that are made at once when all are read one after another."""
LAZY_ABOVE = 8192
"""Above so many rows, ``strings_at`` leaves the strings of a lazy column where they are."""


class LazyStrings(Sequence[str]):
    """Strings that ``read(rows)`` makes for an array of row numbers, in their order."""

    def __init__(self, length: int, read: Callable[[np.ndarray], list[str]]) -> None:
        self._length, self._read = length, read

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return self._read(np.arange(*row.indices(self._length)))
        place = row + self._length if row < 0 else row
        if not 0 <= place < self._length:
            raise IndexError(f"there are {self._length} strings, so none is {row}")
        return self._read(np.array([place]))[0]

    def __iter__(self) -> Iterator[str]:
        for start in range(0, self._length, AT_ONCE):
            yield from self[start : start + AT_ONCE]

    def take(self, rows: np.ndarray) -> LazyStrings:
        """The strings at these row numbers, still to be made."""
        return LazyStrings(len(rows), lambda places: self._read(rows[places]))


def joined_with(
    first: Sequence[str], second: Sequence[str], join: Callable[[list[str], list[str]], list[str]]
) -> LazyStrings:
    """A column made of two of the same length; at least one of them is lazy."""

    def read(rows: np.ndarray) -> list[str]:
        return join(at(first, rows), at(second, rows))

    return LazyStrings(len(first), read)


def at(column: Sequence[str], rows: np.ndarray) -> list[str]:
    """The strings at these row numbers."""
    return column.take(rows)[:] if isinstance(column, LazyStrings) else [column[row] for row in rows.tolist()]


def strings_at(column: list[str], rows: list[int]) -> list[str]:
    """The strings at these row numbers; many of a lazy column stay where they are."""
    if isinstance(column, LazyStrings) and len(rows) > LAZY_ABOVE:
        return cast("list[str]", column.take(np.array(rows, np.int64)))
    return [column[row] for row in rows]
