"""Rows of CSV, with the limit on a cell and errors that name the line."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from longtail.data import limits
from longtail.data.lines import text_lines
from longtail.errors import DataError


def csv_reader(path: Path, encoding: str, delimiter: str) -> Any:
    """The rows of a file as lists of cells; ``line_num`` is the line of the last one."""
    csv.field_size_limit(limits.current().line)
    lines = (f"{line}\n" for _, line in text_lines(path, encoding))
    return csv.reader(lines, delimiter=delimiter, strict=True)


@contextmanager
def csv_errors(path: Path, reader: Any) -> Iterator[None]:
    """What the reader raises in the block as a DataError."""
    try:
        yield
    except csv.Error as error:
        if "field larger than" in str(error):
            problem = "there are too many characters in one cell"
            raise limits.exceeded("line", problem, path, reader.line_num) from None
        raise DataError(f"is not valid CSV ({error})", path=path, line=reader.line_num) from None
