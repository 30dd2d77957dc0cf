"""HTTP connections with bounded heads: the parser of uvicorn takes headers of any length, for any time."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from longtail.serving.deadlines import MovingDeadline
from longtail.serving.one_write import OneWrite

MAX_HEAD = 64 * 2**10
"""Bytes of the request line and the headers; what comes in one piece with the last of them is read as well."""
HEAD_SECONDS = 30.0
"""Seconds until a head must be there."""


WHOLE_BODY = "longtail.whole_body"
"""The extension in the scope of a request whose body has come with its head, so that nobody has to wait for it."""


class BoundedHead(HttpToolsProtocol):
    """Answers 400 to a head that is too long, and closes a connection that is idle or whose head takes too long."""

    _in_head = True
    _head_bytes = 0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._deadline = MovingDeadline(self.loop, self._give_up)
        # It is made when a client has connected: the first head may come now.
        self._deadline.set(HEAD_SECONDS)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Write through a transport that joins the parts of an answer."""
        one_write = OneWrite(cast(asyncio.Transport, transport), self.loop)
        super().connection_made(cast(asyncio.Transport, one_write))

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._deadline.close()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """A head begins."""
        self._in_head, self._head_bytes = True, 0
        self._deadline.clear()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The head is there."""
        self._in_head = False
        self._deadline.clear()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The body is there; the app has not begun if it came with the head."""
        self.scope["extensions"] = {WHOLE_BODY: {}}
        super().on_message_complete()

    def data_received(self, data: bytes) -> None:
        """Count what belongs to a head that does not end."""
        super().data_received(data)
        if self._in_head and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD:
                self.send_400_response("The headers are too long.")
            elif not self._deadline.pending:
                self._deadline.set(HEAD_SECONDS)

    def on_response_complete(self) -> None:
        """Begin with the next request, or wait for it; in place of the timer that uvicorn makes each time."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            cycle, app = self.pipeline.pop()
            self._start_asgi_task(cycle, app)
        else:
            self._deadline.set(self.timeout_keep_alive)

    def _give_up(self) -> None:
        if self.transport is not None and not self.transport.is_closing():
            self.transport.close()
