"""HTTP connections with bounded heads: the parser of uvicorn takes headers of any length, for any time."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from longtail.serving.one_write import OneWrite

MAX_HEAD = 64 * 2**10
"""Bytes of the request line and the headers; what comes in one piece with the last of them is read as well."""
HEAD_SECONDS = 30.0
"""Seconds until a head must be there."""


class BoundedHead(HttpToolsProtocol):
    """Answers 400 to a head that is too long, and closes a connection whose head takes too long."""

    _in_head = True
    _head_bytes = 0
    _deadline: asyncio.TimerHandle | None = None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # It is made when a client has connected: the first head may come now.
        self._start_waiting()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Write through a transport that joins the parts of an answer."""
        one_write = OneWrite(cast(asyncio.Transport, transport), self.loop)
        super().connection_made(cast(asyncio.Transport, one_write))

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """A head begins."""
        self._in_head, self._head_bytes = True, 0
        self._start_waiting()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The head is there."""
        self._in_head = False
        self._stop_waiting()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """Count what belongs to a head that does not end."""
        super().data_received(data)
        if self._in_head and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD:
                self.send_400_response("The headers are too long.")

    def _start_waiting(self) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        if self.transport is not None and not self.transport.is_closing():
            self.transport.close()
