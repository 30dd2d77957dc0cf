"""The load generator against a small server of the standard library."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from benchmarks.load import get, load, post


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = 500 if body == b"bad" else 200
        self.send_response(status)
        if body == b"chunks":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n")
            return
        self.send_header("Content-Length", "5")
        if body == b"close":
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b"hello")

    def do_GET(self) -> None:
        # No answer: the connection just ends.
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()


@pytest.mark.parametrize("body", [b"x", b"chunks", b"close"])
def test_answers_are_counted(port: int, body: bytes) -> None:
    seen = load(port, [post("/", body)], clients=3, seconds=0.3)
    assert seen.failed == 0
    assert set(seen.statuses) == {200}
    assert seen.statuses[200] == len(seen.seconds) > 3
    summary = seen.summary()
    assert summary["per second"] > 0
    assert summary["p50 ms"] <= summary["p99 ms"] <= summary["max ms"]


def test_failures_are_counted_and_not_timed(port: int) -> None:
    seen = load(port, [post("/", b"bad"), post("/", b"x"), get("/")], clients=1, seconds=0.5)
    assert seen.statuses[500] > 0
    assert seen.errors["IncompleteReadError"] > 0
    assert seen.failed == seen.statuses[500] + sum(seen.errors.values())
    assert len(seen.seconds) == seen.statuses[200]


def test_a_rate_is_kept(port: int) -> None:
    told: list[float] = []
    seen = load(port, [post("/", b"x")], clients=2, seconds=1.2, per_second=20, watch=told.append)
    assert 1 <= seen.statuses[200] <= 30
    assert told
