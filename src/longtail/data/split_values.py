"""The values that documents are parted by: groups as numbers 0, 1, ..., times as comparable numbers."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from longtail.errors import DataError

_YEAR_OR_MONTH = re.compile(r"\d{4}(-\d{2})?")
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def group_codes(groups: Sequence[Any] | np.ndarray, ids: Sequence[str] | None = None) -> np.ndarray:
    """A number for each document's group (a string or an integer), in order of first appearance."""
    values = groups.tolist() if isinstance(groups, np.ndarray) else groups
    codes: dict[Any, int] = {}
    numbers = np.empty(len(values), np.int64)
    for row, value in enumerate(values):
        if type(value) is not str and (type(value) is not int):
            raise DataError(f"{_name(row, ids)}: the group must be a string or an integer, not {value!r}")
        numbers[row] = codes.setdefault(value, len(codes))
    return numbers


def moments(times: Sequence[Any] | np.ndarray, ids: Sequence[str] | None = None) -> np.ndarray:
    """A number for each document's time: numbers as they are, dates as seconds; all must be of one kind."""
    values = times.tolist() if isinstance(times, np.ndarray) and times.dtype.kind != "M" else times
    if isinstance(values, np.ndarray):
        values = values.astype("datetime64[us]").tolist()
    numbers = np.empty(len(values), np.float64)
    kinds: set[str] = set()
    for row, value in enumerate(values):
        if isinstance(value, int | float) and not isinstance(value, bool):
            if not math.isfinite(value):
                raise DataError(f"{_name(row, ids)}: the time {value!r} is not a finite number")
            numbers[row] = value
            kinds.add("numbers")
        else:
            numbers[row] = _seconds(value, row, ids)
            kinds.add("dates")
        if len(kinds) > 1:
            raise DataError(f"{_name(row, ids)}: the time {value!r} is of another kind than those before it")
    return numbers


def _seconds(value: Any, row: int, ids: Sequence[str] | None) -> float:
    parsed = value
    if isinstance(value, str):
        text = value.strip()
        if _YEAR_OR_MONTH.fullmatch(text):
            text = f"{text}-01-01"[:10]
        try:
            parsed = datetime.datetime.fromisoformat(text)
        except ValueError:
            parsed = None
    if isinstance(parsed, datetime.date) and not isinstance(parsed, datetime.datetime):
        parsed = datetime.datetime(parsed.year, parsed.month, parsed.day)
    if not isinstance(parsed, datetime.datetime):
        raise DataError(
            f"{_name(row, ids)}: the time must be a number or a date such as 2021-05-31, not {value!r}"
        )
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=datetime.UTC)
    return (parsed - _EPOCH).total_seconds()


def _name(row: int, ids: Sequence[str] | None) -> str:
    return f"document {row}" if ids is None else f"document {ids[row]!r}"
