"""Where data come from: a path, or standard input for ``-``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

STANDARD = "-"


@contextmanager
def readable(path: str) -> Iterator[str]:
    """The path itself; for ``-`` or a pipe a temporary file with all of it, as readers read data twice."""
    from longtail.data.standard_input import is_pipe, pipe_as_file

    if path != STANDARD and not is_pipe(path):
        yield path
        return
    with pipe_as_file(path) as copy:
        yield str(copy)
