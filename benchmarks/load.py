"""Load on a web service of this machine: clients that send one request after the other, and what they saw.

A closed loop: each client has one connection and one request under way. Requests are bytes that were made before;
of an answer only its status and its length are read, and sockets are handled by uvloop, so that clients take little
of the processor that they share with the server.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import uvloop

LOOPBACK = "127.0.0.1"
"""No other machine is ever loaded."""
SECONDS_TO_WAIT = 60.0
"""An answer that takes longer counts as a failure."""


@dataclass
class Seen:
    """What clients saw: statuses by number, seconds of answers of status 200, and errors of connections."""

    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    elapsed: float = 0.0

    @property
    def failed(self) -> int:
        """Requests without an answer of status 2xx."""
        refused = sum(count for status, count in self.statuses.items() if not 200 <= status < 300)
        return refused + sum(self.errors.values())

    def summary(self) -> dict[str, Any]:
        """Throughput, latencies, statuses."""
        times = 1e3 * np.array(self.seconds or [float("nan")])
        return {
            "requests": sum(self.statuses.values()) + sum(self.errors.values()),
            "per second": len(self.seconds) / self.elapsed,
            "p50 ms": float(np.percentile(times, 50)),
            "p99 ms": float(np.percentile(times, 99)),
            "max ms": float(times.max()),
            "statuses": {str(status): count for status, count in sorted(self.statuses.items())},
            "errors": dict(self.errors),
        }


def post(
    path: str, body: bytes, kind: str = "application/json", headers: Mapping[str, str] | None = None
) -> bytes:
    """A request of HTTP/1.1 as bytes."""
    further = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {LOOPBACK}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        f"{further}\r\n"
    )
    return head.encode() + body


def get(path: str) -> bytes:
    """A request of HTTP/1.1 as bytes."""
    return f"GET {path} HTTP/1.1\r\nHost: {LOOPBACK}\r\n\r\n".encode()


def load(
    port: int,
    requests: Sequence[bytes],
    *,
    clients: int,
    seconds: float,
    per_second: float | None = None,
    done: Callable[[], bool] = lambda: False,
    watch: Callable[[float], None] | None = None,
    seen: Seen | None = None,
) -> Seen:
    """Have so many clients send the requests in turn for so long.

    Args:
        per_second: a rate that all clients together do not exceed.
        done: whether to end before the time is over.
        watch: is called about once per second with the seconds since the start.
        seen: where answers are counted, for callers who look at it meanwhile.
    """
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(
            _load(port, requests, clients, seconds, per_second, done, watch, Seen() if seen is None else seen)
        )


async def _load(
    port: int,
    requests: Sequence[bytes],
    clients: int,
    seconds: float,
    per_second: float | None,
    done: Callable[[], bool],
    watch: Callable[[float], None] | None,
    seen: Seen,
) -> Seen:
    start = time.perf_counter()
    end = start + seconds
    pause = None if per_second is None else clients / per_second
    all_clients = [
        _Client(port, requests[number::clients] or requests, pause, seen) for number in range(clients)
    ]
    for number, client in enumerate(all_clients):
        # Clients of a rate do not all send in the same moment.
        client.begin(0 if pause is None else pause * number / clients)
    told = start
    while (now := time.perf_counter()) < end and not done():
        await asyncio.sleep(min(0.05, end - now))
        if watch is not None and now - told >= 1:
            told = now
            watch(now - start)
        for client in all_clients:
            client.give_up(now - SECONDS_TO_WAIT)
    for client in all_clients:
        client.stop()
    seen.elapsed = time.perf_counter() - start
    await asyncio.gather(*(client.ended for client in all_clients))
    return seen


class _Client(asyncio.Protocol):
    """One connection at a time, and one request at a time on it."""

    def __init__(self, port: int, requests: Sequence[bytes], pause: float | None, seen: Seen) -> None:
        self._port, self._requests, self._pause, self._seen = port, requests, pause, seen
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._number, self._due, self._sent = 0, 0.0, 0.0
        self._received = b""
        self._connecting: asyncio.Task[None] | None = None
        self._stopping = False
        self.ended = self._loop.create_future()
        """Done after the last answer."""

    def begin(self, after: float) -> None:
        """Send the first request after so many seconds."""
        self._due = time.perf_counter() + after
        self._connect(after)

    def stop(self) -> None:
        """Send no more; an answer that is under way is not counted."""
        self._stopping = True
        if self._transport is not None:
            self._transport.close()
        elif not self.ended.done():
            self.ended.set_result(None)

    def give_up(self, before: float) -> None:
        """Count a request as failed that was sent before this time and has no answer."""
        if self._sent and self._sent < before and self._transport is not None:
            self._failed("TimeoutError")
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop."""
        self._transport = cast(asyncio.Transport, transport)
        if self._stopping:
            transport.close()
        else:
            self._send()

    def connection_lost(self, error: Exception | None) -> None:
        """Called by the loop."""
        self._transport = None
        if self._stopping:
            if not self.ended.done():
                self.ended.set_result(None)
            return
        if self._sent:
            self._failed(type(error).__name__ if error else "IncompleteReadError")
        self._connect(0.05)

    def data_received(self, data: bytes) -> None:
        """Called by the loop."""
        received = self._received = self._received + data if self._received else data
        found = _status(received)
        if found is None or self._stopping:
            return
        status, stays = found
        self._received = b""
        self._seen.statuses[status] += 1
        if 200 <= status < 300:
            self._seen.seconds.append(time.perf_counter() - self._sent)
        self._sent = 0.0
        if not stays and self._transport is not None:
            self._transport.close()
        elif self._pause is None:
            self._send()
        else:
            self._due += self._pause
            self._loop.call_later(max(self._due - time.perf_counter(), 0), self._send)

    def _connect(self, after: float) -> None:
        async def connect() -> None:
            await asyncio.sleep(after)
            try:
                if not self._stopping:
                    await self._loop.create_connection(lambda: self, LOOPBACK, self._port)
            except OSError as error:
                self._failed(type(error).__name__)
                self._connect(0.05)

        self._connecting = self._loop.create_task(connect())

    def _send(self) -> None:
        if self._stopping or self._transport is None or self._transport.is_closing():
            return
        request = self._requests[self._number % len(self._requests)]
        self._number += 1
        self._sent = time.perf_counter()
        self._transport.write(request)

    def _failed(self, what: str) -> None:
        self._seen.errors[what] += 1
        self._sent, self._received = 0.0, b""


def _status(received: bytes) -> tuple[int, bool] | None:
    """The status of an answer and whether the connection stays open; None while a part of it is missing."""
    end = received.find(b"\r\n\r\n")
    if end < 0:
        return None
    head = received[: end + 2].lower()
    if b"transfer-encoding: chunked" in head:
        if not received.endswith(b"0\r\n\r\n"):
            return None
    else:
        length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
        if len(received) < end + 4 + int(length or b"0"):
            return None
    return int(head[9:12]), b"connection: close" not in head
