"""Bounds of what a request sends: bytes, time, and requests at the same time."""

from __future__ import annotations

import json
import socket
import threading
from urllib.parse import urlsplit

from longtail.serving.limits import Limits
from longtail.serving.service import Service
from tests.serving.running import running

PREDICT = "/v1/models/linear/predict"


def send(url: str, *parts: bytes) -> bytes:
    """Send raw bytes, and read until the server closes the connection."""
    place = urlsplit(url)
    with socket.create_connection((place.hostname, place.port), timeout=60) as connection:
        for part in parts:
            connection.sendall(part)
        found = b""
        while more := connection.recv(65536):
            found += more
            if b'"detail"' in found:
                break
    return found


def head(*lines: str) -> bytes:
    first = [f"POST {PREDICT} HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
    return "\r\n".join([*first, *lines, "", ""]).encode()


def test_a_long_body_is_refused(served):
    answer = served.post(PREDICT, {"documents": [{"text": "a" * 100_000}]})
    assert answer.status == 413
    assert "100,000 bytes" in answer.detail
    assert answer.headers["connection"] == "close"


def test_a_length_alone_is_enough_to_be_refused(served):
    for length in ("100001", "9" * 30):
        found = send(served.url, head(f"Content-Length: {length}"))
        # A number without an end is refused by the parser itself.
        assert found.startswith((b"HTTP/1.1 413", b"HTTP/1.1 400"))


def test_a_body_in_chunks_is_counted(served):
    chunk = b"4000\r\n" + b"a" * 0x4000 + b"\r\n"
    found = send(served.url, head("Transfer-Encoding: chunked"), *[chunk] * 7)
    assert found.startswith(b"HTTP/1.1 413")


def test_a_body_in_chunks_within_the_limit_is_read(served):
    body = json.dumps({"documents": [{"text": "a"}]}).encode()
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:5], body[5:])) + b"0\r\n\r\n"
    found = send(served.url, head("Transfer-Encoding: chunked", "Connection: close"), chunks)
    assert found.startswith(b"HTTP/1.1 200")


def test_a_slow_body_is_given_up(registry):
    with running(Service(registry, Limits(seconds=0.3), jobs=1)) as server:
        found = send(server.url, head("Content-Length: 50"), b'{"docu')
    assert found.startswith(b"HTTP/1.1 408")
    assert b"0.3 seconds" in found


def test_too_many_requests_are_refused_but_health_is_told(registry):
    with running(Service(registry, Limits(requests=1, seconds=30), jobs=1)) as server:
        place = urlsplit(server.url)
        with socket.create_connection((place.hostname, place.port)) as waiting:
            waiting.sendall(head("Content-Length: 50"))
            arrived = threading.Event()
            for _ in range(200):
                answer = server.get("/v1/models")
                if answer.status == 429:
                    break
                arrived.wait(0.02)
            assert answer.status == 429
            assert answer.headers["retry-after"] == "1"
            assert server.get("/health/live").status == 200
            assert server.get("/metrics").status == 200
