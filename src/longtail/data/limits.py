"""How much a file may ask for beyond what it really holds: lines, unpacked bytes, columns and blank lines.

A small file can claim a matrix of a trillion labels or unpack to terabytes. Each limit is an error that names the
environment variable to raise it with.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path

from longtail.errors import DataError, UsageError

PREFIX = "LONGTAIL_MAX_"


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What reading refuses; every field is an environment variable ``LONGTAIL_MAX_<FIELD>``.

    Args:
        line: bytes of one line, and characters of one cell of a table.
        ratio: unpacked bytes per byte of a compressed file, beyond ``SMALL`` unpacked bytes.
        labels: labels of a matrix beyond those that its entries could name.
        columns: features of a matrix beyond its entries.
        blank: blank lines, or rows without an entry, beyond the others.
    """

    line: int = 64 * 2**20
    ratio: int = 200
    labels: int = 1_000_000
    columns: int = 20_000_000
    blank: int = 1_000_000


SMALL = 64 * 2**20
"""Bytes that any compressed file may unpack to."""

TOO_MANY_BLANK = "there are more blank lines or rows than others, too many"


def current() -> Limits:
    """The limits with what the environment sets."""
    given = {}
    for field in fields(Limits):
        name = variable(field.name)
        value = os.environ.get(name)
        if value is None:
            continue
        if not (value.isascii() and value.isdigit() and int(value) > 0):
            raise UsageError(f"the environment variable {name} must be a whole number from 1, not {value!r}")
        given[field.name] = int(value)
    return Limits(**given)


def variable(name: str) -> str:
    """The environment variable of a limit."""
    return f"{PREFIX}{name.upper()}"


def exceeded(name: str, problem: str, path: str | Path, line: int | None = None) -> DataError:
    """The error of a limit: what is too much, and how to read the file nevertheless."""
    allowed = getattr(current(), name)
    return DataError(
        f"{problem}, and the limit is {allowed:,}: if the file is right, set the environment variable "
        f"{variable(name)} to a larger number",
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
