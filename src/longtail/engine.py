"""Where the parts of a computation are worked on: in this process by default, or by the workers of a cluster.

A computation that may leave the process is a function of a module and two values: what all parts share, and the
part. It gives back its result and changes nothing else. So every engine gives the same results, in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

from longtail import threads

Shared = TypeVar("Shared")
Part = TypeVar("Part")
Result = TypeVar("Result")


class Engine(Protocol):
    """What works on parts."""

    elsewhere: bool
    """Whether parts are worked on in other processes, which do not see what this one keeps in memory."""

    def map(
        self,
        function: Callable[[Shared, Part], Result],
        shared: Shared,
        parts: Sequence[Part],
        *,
        done: Callable[[Part], None] | None = None,
        whole: bool = False,
    ) -> list[Result]:
        """``function(shared, part)`` of every part, in the order of the parts.

        Args:
            done: told of each part that is finished.
            whole: a part uses the threads of a process itself, as a training does; in one process they come one
                after another.
        """


class Local:
    """The threads of this process."""

    elsewhere = False

    def map(
        self,
        function: Callable[[Shared, Part], Result],
        shared: Shared,
        parts: Sequence[Part],
        *,
        done: Callable[[Part], None] | None = None,
        whole: bool = False,
    ) -> list[Result]:
        """All parts, as many at a time as there are threads."""
        if not whole:
            return threads.run_all(lambda part: function(shared, part), parts, done)
        found = []
        for part in parts:
            found.append(function(shared, part))
            if done is not None:
                done(part)
        return found


_LOCAL = Local()
_in_use: ContextVar[Engine | None] = ContextVar("engine", default=None)


def in_use() -> Engine:
    """The engine that is in use here."""
    return _in_use.get() or _LOCAL


@contextmanager
def use(engine: Engine) -> Iterator[None]:
    """Work with this engine on what is inside."""
    token = _in_use.set(engine)
    try:
        yield
    finally:
        _in_use.reset(token)
