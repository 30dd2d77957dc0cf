"""Documents through a pipe: JSON lines, a table, or one text per line."""

from __future__ import annotations

import csv
import itertools
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from longtail.data import plain_text, table
from longtail.data.canonical_jsonl import check_keys
from longtail.data.formats import JSON_ARRAY
from longtail.data.json_keys import Keys
from longtail.data.json_record import record_parser
from longtail.data.lines import STDIN, byte_lines
from longtail.data.options import ReadOptions
from longtail.data.records import Batch, batches, fail, parsed
from longtail.data.roles import find_roles
from longtail.data.understood import Understood
from longtail.errors import DataError, UsageError

_NAME = "standard input"
_FORMATS = ("jsonl", "table", "text")
_DELIMITERS = ",;\t"


def stream_stdin(
    format: str | None, size: int, options: ReadOptions, note: Callable[[Understood], None] | None
) -> Iterator[Batch]:
    """The documents of standard input in batches; its format is recognised by its first line."""
    if format not in (None, *_FORMATS):
        raise UsageError(f"standard input can be {', '.join(_FORMATS[:-1])} or {_FORMATS[-1]}, not {format}")
    lines = byte_lines(STDIN, options.encoding)
    before: list[tuple[int, bytes]] = []
    for numbered in lines:
        before.append(numbered)
        if not numbered[1].isspace() and numbered[1]:
            break
    first = before[-1][1] if before else b""
    chosen = format or _format_of(first, options)
    every = itertools.chain(before, lines)
    if chosen == "jsonl":
        return _json_lines(every, size, options, note)
    if chosen == "table":
        return _table(every, first, size, options, note)
    if note is not None:
        note(Understood(path=_NAME, format="text", has_columns=False, encoding=options.encoding))
    return batches(plain_text.records(every, _NAME), size)


def _format_of(line: bytes, options: ReadOptions) -> str:
    start = line.lstrip()
    if start.startswith(b"{"):
        return "jsonl"
    if start.startswith((b'[{"', b"[ {")) or start.rstrip() == b"[":
        raise DataError(JSON_ARRAY, path=_NAME)
    header = _header(line)
    if len(header) < 2 or not all(header):
        return "text"
    try:
        roles = find_roles(header, options)
    except ValueError:
        return "table"
    known = [name for name in (roles.id, roles.title, *roles.texts, roles.labels) if name is not None]
    if len(known) > 1:
        return "table"
    if known and len(header) <= 10:
        raise DataError(
            f"the first line may be the names of columns ({', '.join(header)}) or a text: say which with "
            "--input-format table or --input-format text (format in Python)",
            path=_NAME,
            line=1,
        )
    return "text"


def _header(line: bytes) -> list[str]:
    text = line.decode("utf-8", "replace")
    try:
        return [name.strip() for name in next(csv.reader([text], delimiter=_delimiter(text)), [])]
    except csv.Error:
        # A line that is no row of a table: a carriage return in it, a cell of a hundred thousand characters.
        return []


def _delimiter(text: str) -> str:
    return max(_DELIMITERS, key=text.count)


def _json_lines(
    lines: Iterable[tuple[int, bytes]],
    size: int,
    options: ReadOptions,
    note: Callable[[Understood], None] | None,
) -> Iterator[Batch]:
    keys = Keys(options)
    found = batches(parsed(lines, record_parser(options, keys), _NAME, fail), size)
    for number, batch in enumerate(found):
        if not number:
            check_keys(keys, _NAME)
            if note is not None:
                note(keys.understood(_NAME))
        yield batch


def _table(
    lines: Iterable[tuple[int, bytes]],
    first: bytes,
    size: int,
    options: ReadOptions,
    note: Callable[[Understood], None] | None,
) -> Iterator[Batch]:
    """The rows of a table, which is read twice: first for what separates labels."""
    ending = ".tsv" if _delimiter(first.decode("utf-8", "replace")) == "\t" else ".csv"
    with tempfile.TemporaryDirectory(prefix="longtail-") as folder:
        copy = Path(folder) / f"standard-input{ending}"
        with copy.open("wb") as handle:
            handle.writelines(line + b"\n" for _, line in lines)
        try:
            understood = table.describe(copy, options)
            if note is not None:
                note(replace(understood, path=_NAME))
            yield from table.stream(copy, options, size)
        except DataError as error:
            raise DataError(str(error).replace(str(copy), _NAME)) from None
