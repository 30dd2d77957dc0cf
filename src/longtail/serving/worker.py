"""One of several processes of a service: what it asks of the others, and what it does when they ask.

All calls go through the supervisor, the process that started the workers.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from longtail.errors import UsageError
from longtail.serving.channel import Channel
from longtail.serving.service import Service

SECONDS_TO_LEARN = 30.0
"""A worker that takes longer to learn feedback does so without being waited for."""


@dataclass(frozen=True, slots=True)
class Inherited:
    """Files that the supervisor has opened for a worker, by their numbers."""

    number: int
    """Of the worker, from 0."""
    bound: int
    """Its socket for clients."""
    channel: int
    """Its socket to the supervisor."""
    lock: int
    """A file that is locked while feedback is stored and learned."""

    @classmethod
    def of(cls, text: str) -> Inherited:
        """From the option of the command line."""
        try:
            return cls(*map(int, text.split(",")))
        except (TypeError, ValueError):
            raise UsageError("--worker is for processes that --workers starts") from None

    def __str__(self) -> str:
        return f"{self.number},{self.bound},{self.channel},{self.lock}"


class Worker:
    """This process among the workers."""

    def __init__(self, inherited: Inherited) -> None:
        self.number = inherited.number
        try:
            self.bound = socket.socket(fileno=inherited.bound)
            self._end = socket.socket(fileno=inherited.channel)
            os.fstat(inherited.lock)
        except OSError:
            raise UsageError("--worker is for processes that --workers starts") from None
        self._lock = inherited.lock
        self._service: Service | None = None
        self._channel: Channel | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def open(self, service: Service, end: Callable[[], None]) -> None:
        """Listen to the supervisor; ``end`` is called when it is gone."""
        self._service, self._loop = service, asyncio.get_running_loop()
        self._channel = await Channel.open(self._end, self._do)
        self._channel.closed.add_done_callback(lambda task: end())
        service.workers = self

    async def loaded(self) -> None:
        """Say that models are loaded, and wait until all workers have theirs."""
        await self._call("loaded")

    async def listening(self) -> None:
        """Say that connections are taken from now on."""
        await self._call("listening")

    async def reload(self) -> dict[str, str]:
        """Exchange models in all workers, or in none."""
        versions: dict[str, str] = await self._call("reload")
        return versions

    async def metrics(self) -> bytes:
        """The metrics of all workers."""
        return str(await self._call("metrics")).encode()

    def tell(self, model: str) -> None:
        """Have the others learn feedback on a model; called in a thread."""
        assert self._loop is not None
        asyncio.run_coroutine_threadsafe(self._call("learn", model=model), self._loop).result(
            SECONDS_TO_LEARN
        )

    @contextmanager
    def alone(self) -> Iterator[None]:
        """No other worker stores and learns feedback meanwhile; the lock ends with its process."""
        fcntl.lockf(self._lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.lockf(self._lock, fcntl.LOCK_UN)

    async def _call(self, verb: str, **arguments: Any) -> Any:
        assert self._channel is not None
        return await self._channel.call(verb, **arguments)

    async def _do(self, verb: str, arguments: dict[str, Any]) -> Any:
        service = self._service
        assert service is not None
        match verb:
            case "load":
                return await asyncio.to_thread(service.load_changed)
            case "use":
                return await asyncio.to_thread(service.registry.use_loaded)
            case "forget":
                return service.registry.forget_loaded()
            case "count reload":
                service.metrics.reloads.labels(arguments["result"]).inc()
            case "learn" if service.feedback is not None:
                await asyncio.to_thread(service.feedback.catch_up, arguments["model"])
            case "metrics":
                return service.metrics.text().decode()
        return None
