"""The state of one call of the command line: its verbosity, and whether it has written anything yet."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from longtail.progress import ConsoleRun

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(slots=True)
class Session:
    """Set by ``-q`` and ``-v``, read by every command and by the error handler."""

    quiet: bool = False
    verbose: bool = False
    arguments: Sequence[str] = ()
    """Of the command line."""
    written: bool = False
    """Whether output is out already, so that an interruption must not claim that there is none."""
    watched: dict[str, int | None] = field(default_factory=dict)
    """Files and folders that the command writes, and what was there before: a number of the file system."""

    def watch(self, path: str) -> None:
        """Remember what is at ``path`` now, to know later whether it was written: it takes its name in one step."""
        self.watched.setdefault(path, _inode(path))

    def has_written(self) -> bool:
        """Whether there is any output."""
        return self.written or any(_inode(path) != before for path, before in self.watched.items())

    def say(self, message: str) -> None:
        """Tell the user something on stderr, which keeps stdout clean for results."""
        if not self.quiet:
            click.echo(message, err=True)

    @contextmanager
    def library_warnings(self) -> Iterator[None]:
        """Show warnings of the logger ``longtail`` as those of a command."""
        from longtail.run import LOGGER

        handler = _Shown(self)
        LOGGER.addHandler(handler)
        before, LOGGER.propagate = LOGGER.propagate, False
        try:
            yield
        finally:
            LOGGER.propagate = before
            LOGGER.removeHandler(handler)

    def run(self) -> ConsoleRun:
        """A run that shows its progress on stderr."""
        from longtail.progress import ConsoleRun

        return ConsoleRun(sys.stderr, quiet=self.quiet)


def _inode(path: str) -> int | None:
    try:
        return os.stat(path).st_ino
    except OSError:
        return None


class _Shown(logging.Handler):
    """Shows the warnings of a logger to the user of a command."""

    def __init__(self, session: Session) -> None:
        super().__init__(logging.WARNING)
        self._session = session

    def emit(self, record: logging.LogRecord) -> None:
        self._session.say(f"warning: {record.getMessage()}")


def current() -> Session:
    """The session of the command that is being executed."""
    return click.get_current_context().ensure_object(Session)


def verbosity(command: F) -> F:
    """Add ``-q`` and ``-v``; they are kept in the session, not passed to the command."""
    for name in ("verbose", "quiet"):
        flags = (f"-{name[0]}", f"--{name}")
        text = {
            "quiet": "Show results and errors only.",
            "verbose": "Show the traceback of an error.",
        }[name]
        option = click.option(*flags, is_flag=True, expose_value=False, callback=_remember, help=text)
        command = option(command)
    return command


def _remember(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and parameter.name is not None:
        setattr(context.ensure_object(Session), parameter.name, True)
