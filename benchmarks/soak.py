"""A service at a share of its throughput for a long time: failures, latencies, and its memory every ten seconds.

The throughput is measured first, with the same clients at full speed, so the share is of what server and clients
reach together on the cores that they have.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.load import Seen, load
from benchmarks.server_process import Server

CLIENTS = 8
SHARE = 0.8
WARM_UP = 2.0
"""Seconds of load before it counts."""
BETWEEN = 10.0
"""Seconds between two looks at the memory."""


def soak(
    server: Server,
    requests: Sequence[bytes],
    *,
    minutes: float,
    seconds: float,
    rate: float | None = None,
    keep: Callable[[dict[str, Any]], None] = lambda found: None,
) -> dict[str, Any]:
    """Load the server for so many minutes.

    Args:
        seconds: how long its throughput is measured.
        rate: requests per second, in place of ``SHARE`` of the throughput.
        keep: is given what has been seen so far, every ten seconds.
    """
    load(server.port, requests, clients=2, seconds=WARM_UP)
    most = load(server.port, requests, clients=CLIENTS, seconds=seconds)
    capacity = len(most.seconds) / most.elapsed
    rate = rate or SHARE * capacity
    facts = {
        "minutes": minutes,
        "clients": CLIENTS,
        "most per second": capacity,
        "rate per second": rate,
        "share of the measured throughput": rate / capacity,
    }
    print(f"soak: {capacity:.0f} requests per second at most, {rate:.0f} from now on", flush=True)
    seen, memory = Seen(), [(0.0, round(server.megabytes, 1))]
    cpu, start = server.cpu_seconds, time.perf_counter()

    def watch(elapsed: float) -> None:
        if elapsed - memory[-1][0] < BETWEEN:
            return
        memory.append((round(elapsed, 1), round(server.megabytes, 1)))
        keep(
            {
                **facts,
                "minutes so far": elapsed / 60,
                "requests": sum(seen.statuses.values()) + sum(seen.errors.values()),
                "failed requests": seen.failed,
                "megabytes": memory,
            }
        )

    load(
        server.port,
        requests,
        clients=CLIENTS,
        seconds=60 * minutes,
        per_second=rate,
        watch=watch,
        seen=seen,
    )
    memory.append((round(time.perf_counter() - start, 1), round(server.megabytes, 1)))
    return {
        **facts,
        "processor seconds of the server": server.cpu_seconds - cpu,
        "megabytes": memory,
        "megabytes per hour in the second half": growth_per_hour(memory[len(memory) // 2 :]),
        "failed requests": seen.failed,
        **seen.summary(),
    }


def growth_per_hour(memory: Sequence[tuple[float, float]]) -> float:
    """The slope of megabytes over seconds, times an hour."""
    if len(memory) < 2:
        return 0.0
    seconds, megabytes = np.array(memory).T
    return float(np.polyfit(seconds, megabytes, 1)[0]) * 3600
