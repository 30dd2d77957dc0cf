"""Load on a web service of this machine: clients that send one request after the other, and what they saw.

A closed loop: each client has one connection and one request under way. Requests are bytes that were made before;
of an answer only its status and its length are read, so that the client takes little of the processor.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

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
) -> Seen:
    """Have so many clients send the requests in turn for so long.

    Args:
        per_second: a rate that all clients together do not exceed.
        done: whether to end before the time is over.
        watch: is called about once per second with the seconds since the start.
    """
    return asyncio.run(_load(port, requests, clients, seconds, per_second, done, watch))


async def _load(
    port: int,
    requests: Sequence[bytes],
    clients: int,
    seconds: float,
    per_second: float | None,
    done: Callable[[], bool],
    watch: Callable[[float], None] | None,
) -> Seen:
    seen, start = Seen(), time.perf_counter()
    end = start + seconds

    async def watching() -> None:
        while watch is not None:
            await asyncio.sleep(1)
            watch(time.perf_counter() - start)

    watcher = asyncio.create_task(watching())
    pause = None if per_second is None else clients / per_second
    try:
        await asyncio.gather(
            *(
                _client(port, requests[number::clients] or requests, end, pause, done, seen)
                for number in range(clients)
            )
        )
    finally:
        watcher.cancel()
    seen.elapsed = time.perf_counter() - start
    return seen


async def _client(
    port: int,
    requests: Sequence[bytes],
    end: float,
    pause: float | None,
    done: Callable[[], bool],
    seen: Seen,
) -> None:
    connection: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
    number, due = 0, time.perf_counter()
    while (now := time.perf_counter()) < end and not done():
        if pause is not None:
            due += pause
            await asyncio.sleep(max(due - now, 0))
            now = time.perf_counter()
        try:
            if connection is None:
                connection = await asyncio.open_connection(LOOPBACK, port)
            status, stays = await asyncio.wait_for(
                _exchange(*connection, requests[number % len(requests)]), SECONDS_TO_WAIT
            )
        except (OSError, EOFError, TimeoutError) as error:
            seen.errors[type(error).__name__] += 1
            stays = False
            await asyncio.sleep(0.05)
        else:
            seen.statuses[status] += 1
            if 200 <= status < 300:
                seen.seconds.append(time.perf_counter() - now)
        if not stays and connection is not None:
            connection[1].close()
            connection = None
        number += 1
    if connection is not None:
        connection[1].close()


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes
) -> tuple[int, bool]:
    """Send a request and read its answer; whether the connection stays open."""
    writer.write(request)
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    status = int(head.split(b" ", 2)[1])
    if b"transfer-encoding: chunked" in head:
        while True:
            size = int((await reader.readline()).split(b";")[0], 16)
            await reader.readexactly(size + 2)
            if size == 0:
                break
    else:
        length = head.partition(b"content-length:")[2].split(b"\r\n", 1)[0]
        await reader.readexactly(int(length or b"0"))
    return status, b"connection: close" not in head
