"""How much a file may ask for beyond what it really holds: lines, unpacked bytes, columns, rows and blank lines.

A small file can claim a matrix of a trillion labels or unpack to terabytes. Each limit is an error that names the
option to raise it with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from pathlib import Path

from longtail.errors import DataError, UsageError


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What reading refuses.

    Args:
        line: bytes of one line, and characters of one cell of a table.
        ratio: unpacked bytes per byte of a compressed file, beyond ``SMALL`` unpacked bytes.
        labels: labels of a matrix beyond those that its entries could name.
        columns: features of a matrix beyond its entries.
        blank: blank lines, or rows without an entry, beyond the others.
        rows: rows of a Parquet file beyond its bytes.
    """

    line: int = 64 * 2**20
    ratio: int = 200
    labels: int = 1_000_000
    columns: int = 20_000_000
    blank: int = 1_000_000
    rows: int = 1_000_000


SMALL = 32 * 2**20
"""Bytes that any compressed file may unpack to."""

TOO_MANY_BLANK = "there are more blank lines or rows than others, too many"
_UNPACKS = "it unpacks to too many bytes per compressed byte"
_SIZE = re.compile(r"(\d{1,18})(|KB|MB|GB|TB)")
_UNITS = {"": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}

_current: ContextVar[Limits | None] = ContextVar("limits", default=None)


def current() -> Limits:
    """The limits in force here."""
    return _current.get() or Limits()


@contextmanager
def limit(**given: int | str) -> Iterator[Limits]:
    """Read what is read inside with other limits: ``with limit(line="1GB", labels=5_000_000):``.

    Names are those of :class:`Limits`; a size may have the unit KB, MB, GB or TB (of 1024).
    """
    names = [field.name for field in fields(Limits)]
    unknown = next((name for name in given if name not in names), None)
    if unknown is not None:
        raise UsageError(f"there is no limit {unknown!r}; the limits are {', '.join(names)}")
    sizes = {name: size_of(name, value) for name, value in given.items()}
    token = _current.set(replace(current(), **sizes))
    try:
        yield current()
    finally:
        _current.reset(token)


def size_of(name: str, value: int | str) -> int:
    """The number that a limit is set to."""
    found = _SIZE.fullmatch(str(value).strip().upper())
    size = int(found[1]) * _UNITS[found[2]] if found and str(value).isascii() else 0
    if size < 1:
        raise UsageError(
            f"the limit {name!r} must be a whole number from 1, perhaps with KB, MB or GB, not {value!r}"
        )
    return size


def exceeded(name: str, problem: str, path: str | Path, line: int | None = None) -> DataError:
    """The error of a limit: what is too much, and how to read the file nevertheless."""
    allowed = getattr(current(), name)
    return DataError(
        f"{problem}, and the limit is {allowed:,}: if the file is right, raise it with --limit {name}=NUMBER "
        f"(longtail.data.limit({name}=...) in Python)",
        path=path,
        line=line,
    )


def check_labels(n_labels: int, entries: int, path: str | Path) -> None:
    """Refuse a matrix of far more labels than its entries could name."""
    if n_labels > current().labels + entries:
        problem = f"it claims {n_labels:,} labels, but has {entries:,} entries"
        raise exceeded("labels", f"{problem}: too many labels without an entry", path)


def check_columns(n_columns: int, entries: int, path: str | Path, what: str = "columns") -> None:
    """Refuse a matrix of far more columns (or rows, where these are stored by column) than entries."""
    if n_columns > current().columns + entries:
        problem = f"it claims {n_columns:,} {what}, but has {entries:,} entries"
        raise exceeded("columns", f"{problem}: too many {what} without an entry", path)


def check_blank(blank: int, others: int, path: str | Path) -> None:
    """Refuse far more rows without an entry than others."""
    if blank > current().blank + others:
        raise exceeded("blank", TOO_MANY_BLANK, path)


def check_rows(n_rows: int, n_bytes: int, path: str | Path) -> None:
    """Refuse far more rows than the file has bytes."""
    if n_rows > current().rows + n_bytes:
        problem = f"there are {n_rows:,} rows in {n_bytes:,} bytes"
        raise exceeded("rows", f"{problem}: too many rows", path)


def check_unpacked(unpacked: int, packed: int, path: str | Path) -> None:
    """Refuse far more unpacked bytes than there are compressed ones."""
    if unpacked > max(SMALL, current().ratio * packed):
        raise exceeded("ratio", _UNPACKS, path)
