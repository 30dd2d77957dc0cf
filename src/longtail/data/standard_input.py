"""Documents through a pipe: JSON lines and texts as they come, other formats as a temporary file."""

from __future__ import annotations

import io
import itertools
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

from longtail.data import nameless, plain_text
from longtail.data.canonical_jsonl import check_keys
from longtail.data.encoding import UTF_8
from longtail.data.formats import format_named, sniff
from longtail.data.json_keys import Keys
from longtail.data.json_record import record_parser
from longtail.data.lines import STDIN, byte_lines, first_lines, naming_file
from longtail.data.options import ReadOptions
from longtail.data.records import Batch, batches, fail, parsed
from longtail.data.understood import Understood
from longtail.errors import DataError

NAME = "standard input"

_NAMES = {
    "jsonl": "documents.jsonl",
    "xmc-raw": "documents.json",
    "xmc-split": "documents_X_Xf.txt",
    "annif": "documents.tsv",
    "xmc": "documents.txt",
    "fasttext": "documents.txt",
    "text2text": "documents.txt",
    "text": "documents.txt",
    "pecos": "X.documents.npz",
}
"""File names by which the formats are recognised; that of a table has the ending of its delimiter."""

_BINARY = {b"PAR1": ("table", "documents.parquet"), b"PK\x03\x04": ("pecos", _NAMES["pecos"])}
"""What begins with these bytes."""


def stream_stdin(
    format: str | None, size: int, options: ReadOptions, note: Callable[[Understood], None] | None
) -> Iterator[Batch]:
    """The documents of standard input in batches; its format is recognised by its first lines."""
    if format is not None:
        format_named(format)
    start = cast("io.BufferedReader", sys.stdin.buffer).peek(8)
    for magic, (kind, name) in _BINARY.items():
        if start.startswith(magic):
            return _from_file(format or kind, name, _copy_of_stdin, size, options, note)
    lines = byte_lines(STDIN, options.encoding)
    before, head = _first_of(lines)
    chosen = format or nameless.format_of(head, NAME, options)
    every = itertools.chain(before, lines)
    if chosen == "jsonl":
        return _json_lines(every, size, options, note)
    if chosen == "text":
        if note is not None:
            note(Understood(path=NAME, format="text", has_columns=False, encoding=options.encoding))
        return batches(plain_text.records(every, NAME), size)

    def write(handle: BinaryIO) -> None:
        handle.writelines(line + b"\n" for _, line in every)

    # The lines are in UTF-8 already, whatever they came in.
    return _from_file(chosen, _file_name(chosen, head), write, size, options, note)


def is_pipe(path: str | Path) -> bool:
    """Whether what is at this path can be read only once, such as ``<(command)`` of a shell, or /dev/stdin."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return False
    if stat.S_ISCHR(found.st_mode) and not _is_stdin(found):
        raise DataError("is a device: name a file, or a pipe", path=path)
    return not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode)


def _is_stdin(found: os.stat_result) -> bool:
    try:
        return os.path.samestat(found, os.fstat(sys.stdin.fileno()))
    except (OSError, ValueError):
        return False


@contextmanager
def pipe_as_file(path: str | Path = STDIN, format: str | None = None) -> Iterator[Path]:
    """A temporary file of all that comes through a pipe, under a name by which its format is recognised."""
    shown = NAME if str(path) == STDIN else str(path)
    with tempfile.TemporaryDirectory(prefix="longtail-") as folder:
        copy = Path(folder) / "standard-input"
        with copy.open("wb") as handle:
            if str(path) == STDIN:
                _copy_of_stdin(handle)
            else:
                with naming_file(path), open(path, "rb") as pipe:
                    shutil.copyfileobj(pipe, handle)
        copy = copy.rename(copy.with_name(_recognised_name(copy, shown, format)))
        with _speaking_of(copy, shown):
            yield copy


def _recognised_name(copy: Path, shown: str, format: str | None) -> str:
    with copy.open("rb") as handle:
        start = handle.read(8)
    for magic, (_, name) in _BINARY.items():
        if start.startswith(magic):
            return name
    head = first_lines(copy, nameless.LINES)
    try:
        return _file_name(format or nameless.format_of(head, shown), head)
    except DataError:
        # Texts cannot be what commands that read labels are given: there is less doubt.
        return _NAMES["text2text"] if nameless.are_numbered(head) else copy.name


def _file_name(format: str, head: list[str]) -> str:
    if format != "table":
        return _NAMES[format]
    delimiter = nameless.delimiter_of(head[0] if head else "")
    return "documents.tsv" if delimiter == "\t" else "documents.csv"


def _first_of(lines: Iterator[tuple[int, bytes]]) -> tuple[list[tuple[int, bytes]], list[str]]:
    """The first lines, and those among them that are not blank as text; of JSON lines one is enough."""
    before: list[tuple[int, bytes]] = []
    head: list[str] = []
    for numbered in lines:
        before.append(numbered)
        if numbered[1].strip():
            head.append(numbered[1].decode("utf-8", "replace"))
        if len(head) == nameless.LINES or (head and head[0].lstrip().startswith("{")):
            break
    return before, head


def _copy_of_stdin(handle: BinaryIO) -> None:
    shutil.copyfileobj(sys.stdin.buffer, handle)


def _json_lines(
    lines: Iterable[tuple[int, bytes]],
    size: int,
    options: ReadOptions,
    note: Callable[[Understood], None] | None,
) -> Iterator[Batch]:
    keys = Keys(options)
    found = batches(parsed(lines, record_parser(options, keys), NAME, fail), size)
    for number, batch in enumerate(found):
        if not number:
            check_keys(keys, NAME)
            if note is not None:
                note(keys.understood(NAME))
        yield batch


def _from_file(
    format: str,
    name: str,
    write: Callable[[BinaryIO], None],
    size: int,
    options: ReadOptions,
    note: Callable[[Understood], None] | None,
) -> Iterator[Batch]:
    """The documents of a temporary file: these formats are read twice, or not from first to last."""
    with tempfile.TemporaryDirectory(prefix="longtail-") as folder:
        copy = Path(folder) / name
        with copy.open("wb") as handle:
            write(handle)
        with _speaking_of(copy, NAME):
            plain = replace(options, encoding=UTF_8)
            # A CSV corpus of Annif is one of its tables.
            chosen = format_named(sniff(copy) if format == "table" else format)
            found = Understood(path=NAME, format=chosen.name, has_columns=False)
            if chosen.describe is not None:
                found = chosen.describe(copy, plain)
            if note is not None:
                note(replace(found, path=NAME, encoding=options.encoding))
            yield from chosen.stream(copy, plain, size)


@contextmanager
def _speaking_of(copy: Path, shown: str) -> Iterator[None]:
    """Errors name the pipe, not the temporary file."""
    try:
        yield
    except DataError as error:
        raise DataError(str(error).replace(str(copy), shown)) from None
