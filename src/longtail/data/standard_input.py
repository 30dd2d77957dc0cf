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
from longtail.data.encoding import UTF_8
from longtail.data.formats import JSON_ARRAY
from longtail.data.json_keys import Keys
from longtail.data.json_record import record_parser
from longtail.data.lines import STDIN, byte_lines
from longtail.data.options import DEFAULTS, ReadOptions
from longtail.data.records import Batch, batches, fail, parsed
from longtail.data.roles import find_roles
from longtail.data.understood import Understood
from longtail.errors import DataError, UsageError

_NAME = "standard input"
_FORMATS = ("jsonl", "table", "text")


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
    # Labels are not read in a prediction, but their column says as much that this is a table.
    known = _known(header, replace(options, with_labels=True))
    if known > 1:
        return "table"
    if known and len(header) <= 10:
        raise DataError(
            f"the first line may be the names of columns ({', '.join(header)}) or a text: say which with "
            "--input-format table or --input-format text (format in Python)",
            path=_NAME,
            line=1,
        )
    return "text"


def ending_of(line: bytes) -> str:
    """The ending of a table with this first line; none where it is no table."""
    if _known(_header(line), DEFAULTS) < 2:
        return ""
    return ".tsv" if _delimiter(line.decode("utf-8", "replace")) == "\t" else ".csv"


def _known(header: list[str], options: ReadOptions) -> int:
    """How many of the names are those of known columns."""
    if not header or not all(header):
        return 0
    try:
        roles = find_roles(header, options)
    except ValueError:  # Two that may each be the same.
        return 2
    return sum(name is not None for name in (roles.id, roles.title, *roles.texts, roles.labels))


def _header(line: bytes) -> list[str]:
    text = line.decode("utf-8", "replace")
    try:
        return [name.strip() for name in next(csv.reader([text], delimiter=_delimiter(text)), [])]
    except csv.Error:
        # A line that is no row of a table: a carriage return in it, a cell of a hundred thousand characters.
        return []


def _delimiter(text: str) -> str:
    return max(table.DELIMITERS, key=text.count)


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
            # The lines are in UTF-8 already, whatever they came in.
            plain = replace(options, encoding=UTF_8)
            understood = table.describe(copy, plain)
            if note is not None:
                note(replace(understood, path=_NAME, encoding=options.encoding))
            yield from table.stream(copy, plain, size)
        except DataError as error:
            raise DataError(str(error).replace(str(copy), _NAME)) from None
