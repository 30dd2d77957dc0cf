"""Prometheus metrics of the service, and the layer that measures each request."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)

access = logging.getLogger("longtail.serving.access")


class Metrics:
    """Counts and times of one service; several services in a process do not mix."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "longtail_requests", "Requests by route and status.", ["route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "longtail_request_seconds",
            "Seconds until the answer.",
            ["route"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self.batches = Histogram(
            "longtail_batch_documents",
            "Documents that were tagged in one call.",
            ["model"],
            buckets=SIZES,
            registry=self.registry,
        )
        self.documents = Counter("longtail_documents", "Documents tagged.", ["model"], registry=self.registry)
        self.reloads = Counter("longtail_reloads", "Reloads by result.", ["result"], registry=self.registry)
        self._by_route: dict[tuple[str, int], tuple[Counter, Histogram]] = {}

    def watch(
        self, versions: Callable[[], Mapping[str, str]], depths: Callable[[], Mapping[str, int]]
    ) -> None:
        """Report versions and the lengths of queues as they are whenever metrics are read."""
        self.registry.register(_State(versions, depths))

    def observe_request(self, route: str, status: int, seconds: float) -> None:
        """Count and time an answer."""
        # Finding a series by its labels takes longer than counting.
        found = self._by_route.get((route, status))
        if found is None:
            found = self.requests.labels(route, status), self.seconds.labels(route)
            self._by_route[route, status] = found
        found[0].inc()
        found[1].observe(seconds)

    def observe_batch(self, model: str) -> Callable[[int, int], None]:
        """What a batcher tells of its batches."""

        batches, tagged = self.batches.labels(model), self.documents.labels(model)

        def observe(requests: int, documents: int) -> None:
            batches.observe(documents)
            tagged.inc(documents)

        return observe

    def text(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        return generate_latest(self.registry)


class _State:
    """Metrics that are read, not counted."""

    def __init__(
        self, versions: Callable[[], Mapping[str, str]], depths: Callable[[], Mapping[str, int]]
    ) -> None:
        self._versions, self._depths = versions, depths

    def collect(self) -> Iterator[Any]:
        """Called by Prometheus's registry."""
        info = GaugeMetricFamily(
            "longtail_model_info", "1 for the version in use.", labels=["model", "version"]
        )
        for model, version in self._versions().items():
            info.add_metric([model, version], 1)
        yield info
        depth = GaugeMetricFamily("longtail_queue_documents", "Documents that wait.", labels=["queue"])
        for queue, documents in self._depths().items():
            depth.add_metric([queue], documents)
        yield depth


class Measured:
    """Counts and times every request, and writes the access log: method, path, status, milliseconds, no query."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; note its status."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = 500
        start = time.perf_counter()

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noting)
        finally:
            seconds = time.perf_counter() - start
            self.metrics.observe_request(route_of(scope), status, seconds)
            if access.isEnabledFor(logging.INFO):
                # repr: a path may have line ends.
                access.info("%s %r %d %.1f ms", scope["method"], scope["path"], status, 1000 * seconds)


def route_of(scope: Scope) -> str:
    """The route of a request as it was declared, so that the number of time series is bounded."""
    route = scope.get("route")
    path = getattr(route, "path", None)
    return path if isinstance(path, str) else "other"


def together(texts: Sequence[str]) -> bytes:
    """The metrics of several processes as those of one: counts, times and queues are sums."""
    found: dict[str, list[float]] = {}
    for text in texts:
        for line in text.splitlines():
            key, _, value = (line, "", "") if line.startswith("#") else line.rpartition(" ")
            found.setdefault(key, []).extend([float(value)] if value else [])
    lines = []
    for key, values in found.items():
        name = key.partition("{")[0]
        # The version in use is 1 however many use it, and a series is as old as its oldest part.
        total = max if name == "longtail_model_info" else min if name.endswith("_created") else math.fsum
        lines.append(f"{key} {total(values)!r}" if values else key)
    return ("\n".join(lines) + "\n").encode()
