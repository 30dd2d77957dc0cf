"""Calls between two processes over a socket: either side may ask, and answers come in any order.

A message is a line of JSON. A call has a number, a verb and arguments; its answer has the number, and a value or an
error with the HTTP status that fits it.
"""

from __future__ import annotations

import asyncio
import itertools
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from longtail.errors import LongtailError
from longtail.serving.problem import Problem

LONGEST_LINE = 2**26
"""Bytes of a message; the largest are metrics."""

Handler = Callable[[str, dict[str, Any]], Awaitable[Any]]
"""Answers a call of the other side: its verb and its arguments."""


class Channel:
    """One end of the socket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handle: Handler) -> None:
        self._reader, self._writer, self._handle = reader, writer, handle
        self._numbers = itertools.count()
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.closed = asyncio.get_running_loop().create_task(self._read())
        """Done when the other side is gone."""

    @classmethod
    async def open(cls, end: socket.socket, handle: Handler) -> Channel:
        """A channel over this end of a pair of sockets."""
        return cls(*await asyncio.open_unix_connection(sock=end, limit=LONGEST_LINE), handle)

    async def call(self, verb: str, **arguments: Any) -> Any:
        """Ask the other side; what it raised is raised here as a ``Problem``."""
        if self.closed.done():
            raise Problem(503, "the other process has ended")
        number = next(self._numbers)
        answer = self._asked[number] = asyncio.get_running_loop().create_future()
        try:
            self._send({"call": number, "verb": verb, "arguments": arguments})
            return await answer
        finally:
            del self._asked[number]

    def close(self) -> None:
        """End it; the other side notices."""
        self.closed.cancel()
        self._writer.close()

    def _send(self, message: dict[str, Any]) -> None:
        self._writer.write(orjson.dumps(message) + b"\n")

    async def _read(self) -> None:
        try:
            while line := await self._reader.readline():
                message = orjson.loads(line)
                if "call" in message:
                    task = asyncio.get_running_loop().create_task(self._answer(message))
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)
                elif (asked := self._asked.get(message["answer"])) is not None and not asked.done():
                    if "error" in message:
                        asked.set_exception(Problem(message["status"], message["error"]))
                    else:
                        asked.set_result(message["value"])
        except OSError:
            pass
        finally:
            for asked in self._asked.values():
                if not asked.done():
                    asked.set_exception(Problem(503, "the other process has ended"))

    async def _answer(self, message: dict[str, Any]) -> None:
        number = message["call"]
        try:
            value = await self._handle(message["verb"], message["arguments"])
        except Exception as error:
            status = error.status if isinstance(error, Problem) else getattr(error, "http_status", 500)
            # The message of another error may quote a document.
            known = isinstance(error, (LongtailError, OSError, MemoryError))
            detail = (str(error) if known else "") or type(error).__name__
            self._send({"answer": number, "error": detail, "status": status})
        else:
            self._send({"answer": number, "value": value})
