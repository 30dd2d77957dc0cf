"""What the pages of a Parquet file say of themselves: Arrow allocates by it, and the footer may say otherwise.

A column is a chain of pages, each behind a header in Thrift's compact protocol with its size, unpacked and packed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

_DICTIONARY_PAGE = 2
_ENCODINGS = {5: "DELTA_BINARY_PACKED", 6: "DELTA_LENGTH_BYTE_ARRAY", 7: "DELTA_BYTE_ARRAY"}
_FIRST_READ = 256
_LONGEST_HEADER = 2**24
_DEEPEST = 8
_MOST_EMPTY = 1000

# Types of fields in the compact protocol.
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of one column of one group of rows.

    Args:
        unpacked: bytes of all pages together.
        values: how many values they have, or the footer says they have, if that is more.
        encodings: those of the values that store differences, by name.
    """

    unpacked: int
    values: int
    encodings: frozenset[str]


def pages_of(handle: BinaryIO, column: Any) -> Pages:
    """Read the headers of the pages of a column; what is none is a ValueError."""
    start = column.data_page_offset
    if column.has_dictionary_page and 0 < column.dictionary_page_offset < start:
        start = column.dictionary_page_offset
    unpacked, values, encodings, empty = 0, 0, set(), 0
    for header in _headers(handle, start, start + column.total_compressed_size):
        unpacked += _number(header, 2)
        count = 0
        if _number(header, 1) != _DICTIONARY_PAGE:
            # A page of version 1 has its values under 5, one of version 2 under 8.
            inner, encoding = (header[5], 2) if 5 in header else (header.get(8, {}), 4)
            count = _number(inner, 1)
            encodings.add(_ENCODINGS.get(_number(inner, encoding), ""))
        values += count
        empty += not count
        if empty > _MOST_EMPTY:
            raise ValueError("there are too many pages without a value")
    return Pages(unpacked, max(values, column.num_values), frozenset(encodings - {""}))


def _headers(handle: BinaryIO, at: int, end: int) -> Iterator[dict[int, Any]]:
    if at < 0:
        raise ValueError("a column begins before the file")
    while at < end:
        header, length = _header(handle, at)
        yield header
        at += length + _number(header, 3)


def _header(handle: BinaryIO, at: int) -> tuple[dict[int, Any], int]:
    """A header and its length in bytes."""
    size = _FIRST_READ
    while True:
        handle.seek(at)
        some = handle.read(size)
        reader = _Compact(some)
        try:
            return reader.struct(), reader.at
        except IndexError:
            if len(some) < size or size >= _LONGEST_HEADER:
                raise ValueError("the header of a page is cut off") from None
            size *= 16


def _number(header: Any, field: int) -> int:
    number = header.get(field, 0) if isinstance(header, dict) else -1
    if not isinstance(number, int) or number < 0:
        raise ValueError("the header of a page is damaged")
    return number


class _Compact:
    """Reads a struct of Thrift's compact protocol; the end of the bytes is an IndexError."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.at = 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Values by the number of their field; of strings and lists it only matters where they end."""
        if depth > _DEEPEST:
            raise ValueError("the header of a page is damaged")
        found: dict[int, Any] = {}
        number = 0
        while (byte := self._byte()) != 0:
            number = number + (byte >> 4) if byte >> 4 else self._signed()
            found[number] = self._value(byte & 15, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind == _BYTE:
            return self._byte()
        if kind in (_I16, _I32, _I64):
            return self._signed()
        if kind == _DOUBLE:
            return self._skip(8)
        if kind == _BINARY:
            return self._skip(self._varint())
        if kind in (_LIST, _SET):
            return self._list(depth)
        if kind == _STRUCT:
            return self.struct(depth + 1)
        raise ValueError("the header of a page is damaged")

    def _list(self, depth: int) -> None:
        head = self._byte()
        count = self._varint() if head >> 4 == 15 else head >> 4
        for _ in range(count):
            # A truth value takes a byte of its own within a list.
            self._byte() if head & 15 in (_TRUE, _FALSE) else self._value(head & 15, depth + 1)

    def _byte(self) -> int:
        self.at += 1
        return self._content[self.at - 1]

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("the header of a page is damaged")

    def _signed(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _skip(self, count: int) -> None:
        self.at += count
        if self.at > len(self._content):
            raise IndexError
