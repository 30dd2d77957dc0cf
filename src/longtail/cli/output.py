"""Where results go: stdout for ``-``, otherwise a file that is whole or not there."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import click

from longtail.cli.session import current
from longtail.errors import UsageError

STANDARD = "-"


@contextmanager
def opened(path: str, *, force: bool) -> Iterator[BinaryIO]:
    """A binary handle of ``path`` that appears under its name when the block ends well, or stdout for ``-``."""
    from longtail.storage import atomic_file

    session = current()
    if path == STANDARD:
        # Redirected by the user, stdout may hold a part of the output when the command is interrupted.
        session.written = True
        yield sys.stdout.buffer
        sys.stdout.flush()
        return
    with atomic_file(path, force=force) as handle:
        yield handle
    session.written = True


def print_json(value: Any) -> None:
    """One indented JSON value on stdout."""
    click.echo(as_json(value), nl=False)


def as_json(value: Any) -> bytes:
    """Indented JSON with a newline at its end; numpy numbers will do."""
    import orjson

    options = orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(value, option=options)


def print_table(rows: Sequence[Sequence[str]], *, indent: str = "") -> None:
    """Columns of plain text, as wide as they need to be; a terminal gets its last column wrapped."""
    if not rows:
        return
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    before = len(indent) + sum(widths[:-1]) + 2 * (len(widths) - 1)
    room = shutil.get_terminal_size().columns - before if sys.stdout.isatty() else 0
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        line = f"{indent}{'  '.join(cells)}".rstrip()
        if 20 <= room < len(row[-1]):
            wrapped = textwrap.wrap(row[-1], room)
            line = ("\n" + " " * before).join([line[: before + len(wrapped[0])], *wrapped[1:]])
        click.echo(line)


def shown(value: Any) -> str:
    """The value of a setting as a person writes it."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(shown(item) for item in value)}]"
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else str(value)


def bytes_below(folder: Path) -> int:
    """The size of all files of a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def size_in_words(count: float) -> str:
    """Bytes as a person says them: 512 bytes, 3.4 MB."""
    if count < 1000:
        return f"{count:.0f} bytes"
    for unit in ("kB", "MB", "GB"):
        count /= 1000
        if count < 999.95:
            return f"{count:.1f} {unit}"
    return f"{count / 1000:.1f} TB"


def check_file_is_free(path: str | None, *, force: bool, inputs: Sequence[str] = ()) -> None:
    """Raise now, before hours of work, what writing the file would raise in the end."""
    from longtail.storage import atomic_file

    if path is not None and path != STANDARD:
        check_name(path, inputs)
        current().watch(path)
        _attempt(path, atomic_file(path, force=force))


def check_folder_is_free(path: str, *, force: bool, inputs: Sequence[str] = ()) -> None:
    """Raise now, before hours of work, what writing the folder would raise in the end."""
    from longtail.storage import writing_folder

    if path == STANDARD:
        raise UsageError("the output is a folder, which standard output cannot be: name one")
    check_name(path, inputs)
    current().watch(path)
    _attempt(path, writing_folder(path, force=force, manifest=False))


def same(one: str, other: str) -> bool:
    """Whether two outputs are one: the same file, or both standard output."""
    return os.path.realpath(one) == os.path.realpath(other)


def check_name(path: str, inputs: Sequence[str]) -> None:
    """Not even ``--force`` may replace what the command reads: the user's data, or the model."""
    if not path:
        raise UsageError("the name of the output is empty")
    target = Path(os.path.realpath(path))
    for source in inputs:
        place = Path(os.path.realpath(source))
        # A device (/dev/stdin and /dev/stdout are one terminal) is read and written without being replaced.
        if source == STANDARD or not (place.is_file() or place.is_dir()):
            continue
        # The input itself, a folder around it, or a file of it.
        if place.is_relative_to(target) or (target.is_file() and target.is_relative_to(place)):
            raise UsageError(
                f"the output {path} would replace the input {source} or a part of it: choose another name"
            )


class _GaveUp(Exception):
    """Ends an attempt at writing on purpose."""


def _attempt(path: str, writing: AbstractContextManager[Any]) -> None:
    # An abandoned write meets every obstacle (a name that is taken, no permission, another writer) and
    # leaves nothing. Where the parent folder is missing it would be created, so only look at its parents.
    parent = Path(path).absolute().parent
    if parent.exists():
        try:
            with writing:
                raise _GaveUp
        except _GaveUp:
            return
    nearest = next(folder for folder in parent.parents if folder.exists())
    if not nearest.is_dir():
        raise UsageError(f"cannot write {path}: {nearest} is not a folder")
    if not os.access(nearest, os.W_OK):
        raise UsageError(f"cannot write {path}: no permission to create a folder in {nearest}")


def console() -> Any:
    """A rich console on stdout: colours on a terminal only, and none with NO_COLOR."""
    from rich.console import Console

    class PlainlyFailing(Console):
        def on_broken_pipe(self) -> None:
            # Rich would end the process here, with the exit code of a failure.
            raise BrokenPipeError

    # In a pipe, rich would wrap tables at 80 columns.
    return PlainlyFailing(file=sys.stdout, width=None if sys.stdout.isatty() else 120)
