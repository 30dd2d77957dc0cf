"""Deadlines that are nearly always kept: a timer for each would take longer than many an answer."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any


class Deadlines:
    """Gives futures a ``TimeoutError`` that are not done in time. Its methods are called in the event loop.

    All have the same time, so the one that came first is the first to be late: one timer is enough.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._waiting: deque[tuple[float, asyncio.Future[Any]]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def add(self, future: asyncio.Future[Any]) -> None:
        """Have the future end in time."""
        waiting, loop = self._waiting, future.get_loop()
        if self._loop is not loop:
            # A former loop has ended, and its timer with it.
            waiting.clear()
            self._loop, self._timer = loop, None
        while waiting and waiting[0][1].done():
            waiting.popleft()
        waiting.append((loop.time() + self._seconds, future))
        if self._timer is None:
            self._timer = loop.call_later(self._seconds, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """End what is late, and look again when the next one may be."""
        self._timer = None
        waiting = self._waiting
        while waiting:
            deadline, future = waiting[0]
            if not future.done():
                if deadline > loop.time():
                    self._timer = loop.call_at(deadline, self._look, loop)
                    return
                future.set_exception(TimeoutError())
            waiting.popleft()

    def close(self) -> None:
        """Wait for nothing more."""
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class MovingDeadline:
    """A deadline that is set and taken back again and again; its timer looks at it when it fires."""

    def __init__(self, loop: asyncio.AbstractEventLoop, late: Callable[[], None]) -> None:
        """``late`` is called when a deadline is over."""
        self._loop, self._late = loop, late
        self._at: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def pending(self) -> bool:
        """Whether there is one."""
        return self._at is not None

    def set(self, seconds: float) -> None:
        """So many seconds from now on, in place of any other."""
        self._at = self._loop.time() + seconds
        if self._timer is not None and self._timer.when() > self._at:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            self._timer = self._loop.call_at(self._at, self._look)

    def clear(self) -> None:
        """There is none for now."""
        self._at = None

    def close(self) -> None:
        """There will be none any more."""
        self._at = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self._timer = None
        if self._at is None:
            return
        if self._at > self._loop.time():
            self._timer = self._loop.call_at(self._at, self._look)
        else:
            self._at = None
            self._late()
