"""The rows of a Parquet file; memory is bounded by what the file holds, not by what it claims.

A page may say that one long string is the cell of a billion rows. Strings stay numbers of a dictionary until they
are cells, equal cells share their string, and rows and characters are counted against the size of the file. What
the footer says of sizes and encodings is not relied on: the pages themselves are asked.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO

from longtail.data import limits
from longtail.data.lines import naming_file
from longtail.data.parquet_pages import Pages, pages_of
from longtail.errors import DataError, MissingPackageError

_ROWS_AT_ONCE = 4096
_BY_PREFIX = "DELTA_BYTE_ARRAY"
_DELTAS = {_BY_PREFIX, "DELTA_LENGTH_BYTE_ARRAY"}
_PREFIXED_BYTES_AT_ONCE = 2**26


def parquet_rows(path: Path) -> Iterator[tuple[int, Sequence[Any]]]:
    """The names of the columns, then the rows, each with its number from 1."""
    try:
        arrow: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise MissingPackageError("pyarrow", extra="parquet", purpose="reading Parquet") from None
    with naming_file(path), open(path, "rb") as handle:
        size = handle.seek(0, 2)
        try:
            with parquet.ParquetFile(handle, **_SEQUENTIAL) as file:
                names, metadata = file.schema_arrow.names, file.metadata
                strings = _string_columns(file.schema)
            limits.check_rows(metadata.num_rows, size, path)
            groups = [_pages(handle, metadata.row_group(at)) for at in range(metadata.num_row_groups)]
            _check_pages(groups, size, path)
            numbers = count(1)
            yield next(numbers), names
            cells = _Cells(arrow, size, path)
            for group, pages in enumerate(groups):
                columns = [
                    column for column in strings if column in pages and not _DELTAS & pages[column].encodings
                ]
                handle.seek(0)
                # One group of rows at a time: Arrow does not join the dictionaries of lists.
                with parquet.ParquetFile(
                    handle, read_dictionary=columns, metadata=metadata, **_SEQUENTIAL
                ) as file:
                    for batch in file.iter_batches(
                        batch_size=_rows_at_once(pages), row_groups=[group], use_threads=False
                    ):
                        for row in zip(*cells.of_batch(batch), strict=True):
                            yield next(numbers), row
        except (arrow.ArrowException, ValueError, IndexError, OverflowError, NotImplementedError) as error:
            problem = " ".join(str(error).split())[:200]
            raise DataError(f"is not a Parquet file that can be read ({problem})", path=path) from None


_SEQUENTIAL: dict[str, Any] = {"memory_map": False, "pre_buffer": False}


def _string_columns(schema: Any) -> list[str]:
    """Paths of the columns of strings, those within lists and objects too."""
    columns = (schema.column(at) for at in range(len(schema)))
    return [
        column.path
        for column in columns
        if column.physical_type == "BYTE_ARRAY" and column.logical_type.type != "DECIMAL"
    ]


def _pages(handle: BinaryIO, group: Any) -> dict[str, Pages]:
    """The pages of each column of a group of rows."""
    columns = (group.column(at) for at in range(group.num_columns))
    return {column.path_in_schema: pages_of(handle, column) for column in columns}


def _rows_at_once(pages: Mapping[str, Pages]) -> int:
    """Fewer rows where strings are stored by the prefix they share: each may be as long as all together."""
    sizes = [column.unpacked for column in pages.values() if _BY_PREFIX in column.encodings]
    return max(1, min(_ROWS_AT_ONCE, _PREFIXED_BYTES_AT_ONCE // max([*sizes, 1])))


def _check_pages(groups: Sequence[Mapping[str, Pages]], size: int, path: Path) -> None:
    limits.check_unpacked(sum(column.unpacked for group in groups for column in group.values()), size, path)
    for group in groups:
        for name, column in group.items():
            # Of a list all values are unpacked at once, so how many rows are read does not bound them.
            limits.check_unpacked(column.values, size, path)
            if _BY_PREFIX in column.encodings and "." in name:
                limits.check_unpacked(column.values * column.unpacked, size, path)


class _Cells:
    """Columns of Arrow as Python values, counted."""

    def __init__(self, arrow: Any, size: int, path: Path) -> None:
        self._arrow, self._size, self._path = arrow, size, path
        self._rows, self._characters = 0, 0

    def of_batch(self, batch: Any) -> list[list[Any]]:
        """A list per column."""
        # Arrow itself does not look at offsets and indices that it was given.
        batch.validate(full=True)
        self._rows += batch.num_rows
        limits.check_rows(self._rows, self._size, self._path)
        return [self._values(column) for column in batch.columns]

    def _values(self, array: Any) -> list[Any]:
        types, kind = self._arrow.types, array.type
        if types.is_dictionary(kind):
            return self._of_dictionary(array)
        if types.is_list(kind) or types.is_large_list(kind):
            return self._lists(array)
        if types.is_struct(kind):
            fields = [self._values(array.field(at)) for at in range(kind.num_fields)]
            names = [kind.field(at).name for at in range(kind.num_fields)]
            rows = zip(*fields, strict=True) if fields else iter([()] * len(array))
            there = array.is_valid().to_pylist()
            return [
                dict(zip(names, row, strict=True)) if valid else None
                for valid, row in zip(there, rows, strict=True)
            ]
        if any(
            is_kind(kind)
            for is_kind in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
        ):
            self._check_lengths(array)
        values: list[Any] = array.to_pylist()
        return values

    def _check_lengths(self, array: Any) -> None:
        """Strings that are not numbers of a dictionary, before each is copied."""
        compute: Any = importlib.import_module("pyarrow.compute")
        lengths = compute.binary_length(array)
        self._check_cell(compute.max(lengths).as_py() or 0)
        self._count(compute.sum(lengths).as_py() or 0)

    def _of_dictionary(self, array: Any) -> list[Any]:
        codes = array.indices.to_pylist()
        found: dict[Any, Any] = {None: None}
        for code in set(codes):
            if code is not None:
                found[code] = array.dictionary[code].as_py()
        longest = {
            code: len(value) if isinstance(value, (str, bytes)) else 0 for code, value in found.items()
        }
        self._check_cell(max(longest.values()))
        self._count(sum(map(longest.__getitem__, codes)))
        return [found[code] for code in codes]

    def _lists(self, array: Any) -> list[Any]:
        lengths = array.value_lengths().to_pylist()
        # A list may be repeated like a string: its values count as much as their characters.
        self._count(sum(length or 0 for length in lengths))
        flat, at = self._values(array.flatten()), 0
        rows: list[Any] = []
        for length in lengths:
            if length is None:
                rows.append(None)
            else:
                rows.append(flat[at : at + length])
                at += length
        return rows

    def _check_cell(self, longest: int) -> None:
        if longest > limits.current().line:
            raise limits.exceeded("line", "there are too many characters in one cell", self._path)

    def _count(self, characters: int) -> None:
        self._characters += characters
        limits.check_unpacked(self._characters, self._size, self._path)
