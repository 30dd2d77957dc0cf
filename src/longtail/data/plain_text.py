"""Plain text: one document a line, without labels; a blank line is a document without words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from longtail.data.format import Files, Format
from longtail.data.lines import bare_name, byte_lines, decoded
from longtail.data.options import ReadOptions
from longtail.data.parts import Parts
from longtail.data.records import Batch, Placed, Record, Report, batches, fail
from longtail.data.row_folder import read_rows
from longtail.errors import DataError


def records(lines: Iterable[tuple[int, bytes]], path: str | Path, report: Report = fail) -> Iterator[Placed]:
    """One record a line, so that row numbers are line numbers less one."""
    try:
        for number, line in lines:
            yield number, Record(text=decoded(line, path, number))
    except DataError as error:
        report(error)


def read(files: Files, folder: Path | None, options: ReadOptions, report: Report) -> Parts:
    """Read the texts of a file."""
    return read_rows(files, lambda path: records(byte_lines(path, options.encoding), path, report), report)


def stream(path: Path, options: ReadOptions, size: int) -> Iterator[Batch]:
    """The texts of one file, some at a time."""
    return batches(records(byte_lines(path, options.encoding), path), size)


def _fits_file(path: Path) -> bool:
    return bare_name(path).endswith(".txt")


def _files(folder: Path) -> dict[str, Path]:
    # A folder of texts without labels is nothing to learn from.
    return {}


FORMAT = Format(
    name="text",
    shape="a .txt file with one document a line, without labels",
    files=_files,
    fits_file=_fits_file,
    read=read,
    stream=stream,
)
