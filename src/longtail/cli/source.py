"""Where data come from: a path, or standard input for ``-``."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from longtail.errors import DataError

STANDARD = "-"


@contextmanager
def readable(path: str) -> Iterator[str]:
    """The path itself; for ``-`` a temporary file with all of standard input, as readers read data twice."""
    if path != STANDARD:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="longtail-") as folder:
        copy = Path(folder) / "standard-input"
        with copy.open("wb") as handle:
            shutil.copyfileobj(sys.stdin.buffer, handle)
        copy = _with_ending(copy)
        try:
            yield str(copy)
        except DataError as error:
            raise DataError(str(error).replace(str(copy), "standard input")) from error


def _with_ending(copy: Path) -> Path:
    """The copy under a name by which tables are recognised."""
    from longtail.data.lines import first_lines
    from longtail.data.standard_input import ending_of

    ending = ending_of("".join(first_lines(copy, 1)).encode())
    return copy.rename(copy.with_suffix(ending)) if ending else copy
