"""Answers in one piece: the server writes the head of an answer and its body apart, and each costs a system call.

What looks like a head is held until the next write, or until the event loop has done what is ready.
"""

from __future__ import annotations

import asyncio
from typing import Any


class OneWrite:
    """A transport that sends the head of an answer together with the start of its body."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._held = b""
        self._later: asyncio.Handle | None = None

    def write(self, data: bytes) -> None:
        """Send the data, after what was held."""
        if self._held:
            data, self._held = self._held + data, b""
        elif data.startswith(b"HTTP/1.1 ") and data.endswith(b"\r\n\r\n"):
            self._held = data
            self._later = self._loop.call_soon(self.flush)
            return
        if self._later is not None:
            self._later.cancel()
            self._later = None
        self._transport.write(data)

    def flush(self) -> None:
        """Send what was held: the body takes longer, or there is none."""
        self._later = None
        if self._held:
            held, self._held = self._held, b""
            self._transport.write(held)

    def close(self) -> None:
        """Close after all has been sent."""
        self.flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        # All else is the transport's own: reading, addresses, limits of its buffer.
        return getattr(self._transport, name)
