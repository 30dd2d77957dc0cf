"""The server process: a socket, signals, and a shutdown that answers what has been asked."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from longtail.errors import UsageError
from longtail.serving.http_head import BoundedHead
from longtail.serving.service import Service
from longtail.serving.worker import Worker

BACKLOG = 2048

log = logging.getLogger("longtail.serving")


def end_at_once_on_signals() -> None:
    """Let SIGTERM and Ctrl-C end the process until the server runs: nothing has been asked of it yet.

    An exception would not do: compiled code, which runs while models are loaded, may swallow it.
    """

    def end(number: int, frame: FrameType | None) -> None:
        os._exit(0)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)


def bound_socket(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """A socket at this address, which does not listen yet; port 0 takes any free one.

    ``shared``: several processes listen there with sockets of their own, and the kernel spreads connections.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, kind, protocol)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        made.bind(address)
    except (OSError, OverflowError, UnicodeError) as error:
        raise UsageError(
            f"cannot serve at {host}, port {port}: {getattr(error, 'strerror', None) or error}"
        ) from None
    made.setblocking(False)
    return made


def url_of(bound: socket.socket) -> str:
    """The address as a URL."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class Server(uvicorn.Server):
    """uvicorn with signals of our own: SIGTERM and SIGINT drain and end with status 0, SIGHUP reloads."""

    def __init__(
        self,
        app: ASGIApp,
        service: Service,
        listening: Callable[[], None] = lambda: None,
        worker: Worker | None = None,
    ) -> None:
        """``listening`` is called once connections are taken; ``worker`` is this one of several processes."""
        limits = service.limits
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                http=BoundedHead,
                ws="none",
                lifespan="on",
                backlog=BACKLOG,
                timeout_graceful_shutdown=max(round(limits.drain_seconds), 1),
            )
        )
        self.service = service
        self._listening = listening
        self._worker = worker
        self._loop: asyncio.AbstractEventLoop | None = None
        self._reloads: set[asyncio.Task[None]] = set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Remember the loop, for signals, and listen."""
        self._loop = asyncio.get_running_loop()
        if self._worker is not None:
            await self._worker.open(self.service, self.end)
            await self._worker.loaded()
        await super().startup(sockets)
        if self.started:
            self._listening()
            if self._worker is not None:
                await self._worker.listening()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals while the server runs."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        handlers: dict[int, Any] = {signal.SIGTERM: self._end, signal.SIGINT: self._end}
        if hasattr(signal, "SIGHUP"):
            handlers[signal.SIGHUP] = self._hang_up
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def end(self) -> None:
        """Answer what has been asked, and end."""
        self.service.draining = True
        self.should_exit = True

    def _end(self, number: int, frame: FrameType | None) -> None:
        self.service.draining = True
        self.handle_exit(number, frame)

    def _hang_up(self, number: int, frame: FrameType | None) -> None:
        self._in_loop(self._start_reload)

    def _in_loop(self, call: Callable[[], None]) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(call)

    def _start_reload(self) -> None:
        task = asyncio.get_running_loop().create_task(self._reload())
        self._reloads.add(task)
        task.add_done_callback(self._reloads.discard)

    async def _reload(self) -> None:
        try:
            await self.service.reload_everywhere()
        except Exception as error:
            log.error("%s", error)


def run(
    app: ASGIApp,
    service: Service,
    bound: socket.socket,
    listening: Callable[[], None] = lambda: None,
    worker: Worker | None = None,
) -> None:
    """Serve until SIGTERM or Ctrl-C."""
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    Server(app, service, listening, worker).run(sockets=[bound])
