"""JSON and JSON-lines files: sorted keys, bounded reading, never NaN."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from longtail.errors import ModelIntegrityError, UsageError
from longtail.storage.atomic import output_errors
from longtail.storage.listed_file import read_bytes

MAX_JSON_BYTES = 64 * 2**20
"""The largest JSON file, or line of a JSON-lines file, that is read."""

_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE


def write_json(path: str | Path, value: Any) -> None:
    """Write ``value`` (numpy numbers and arrays will do) as indented JSON; the same value, the same bytes."""
    data = _encode(value, path, _OPTIONS | orjson.OPT_INDENT_2)
    with output_errors(path):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(data)


def read_json(path: str | Path, *, max_bytes: int = MAX_JSON_BYTES) -> Any:
    """The value in a JSON file of at most ``max_bytes``."""
    return _decode(read_bytes(path, max_bytes=max_bytes), str(path))


def write_jsonl(path: str | Path, records: Iterable[Any]) -> None:
    """Write one record a line."""
    with output_errors(path):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with Path(path).open("wb") as handle:
            for record in records:
                handle.write(_encode(record, path, _OPTIONS))


def read_jsonl(path: str | Path, *, max_line_bytes: int = MAX_JSON_BYTES) -> Iterator[Any]:
    """The records of a JSON-lines file, one after the other."""
    # The whole file is read and checked before a line of it is used.
    lines = BytesIO(read_bytes(path))
    number = 0
    while line := lines.readline(max_line_bytes + 1):
        number += 1
        if len(line) > max_line_bytes:
            raise ModelIntegrityError(f"{path}, line {number}: more than {max_line_bytes:,} bytes")
        yield _decode(line, f"{path}, line {number}")


def _encode(value: Any, path: str | Path, options: int) -> bytes:
    try:
        data = orjson.dumps(value, option=options)
    except TypeError as error:
        raise UsageError(f"cannot write {path} as JSON: {error}") from None
    # orjson writes NaN and infinity as null, so only a text with a null in it needs the slower look.
    if b"null" in data and _has_nonfinite(value):
        raise UsageError(f"cannot write {path} as JSON: a number in it is not finite")
    return data


def _has_nonfinite(value: Any) -> bool:
    if isinstance(value, float | np.floating):
        return not math.isfinite(value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" and not bool(np.isfinite(value).all())
    if isinstance(value, Mapping):
        return any(_has_nonfinite(item) for item in value.values())
    if isinstance(value, list | tuple):
        return any(_has_nonfinite(item) for item in value)
    return False


def _decode(data: bytes, where: str) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ModelIntegrityError(f"{where} is not valid JSON: {error}") from None
