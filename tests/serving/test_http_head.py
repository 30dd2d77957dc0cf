"""Heads of requests that do not end: too long, or too slow."""

from __future__ import annotations

import socket
from contextlib import suppress
from urllib.parse import urlsplit

import pytest

from longtail.serving import http_head
from tests.serving.running import Running, running

REQUEST = b"GET /health/live HTTP/1.1\r\nHost: x\r\n"


def connected(server: Running) -> socket.socket:
    parts = urlsplit(server.url)
    return socket.create_connection((parts.hostname, parts.port), timeout=30)


def rest(connection: socket.socket) -> bytes:
    received = b""
    with suppress(ConnectionResetError):
        while part := connection.recv(65536):
            received += part
    return received


@pytest.mark.parametrize(
    "part", [b"name: value\r\n" * 1000, b"x" * 10_000], ids=["many headers", "a long header"]
)
def test_a_head_that_does_not_end_is_refused(served: Running, part: bytes) -> None:
    with connected(served) as connection:
        connection.sendall(REQUEST + b"name: ")
        sent = 0
        with suppress(BrokenPipeError, ConnectionResetError):
            while sent < 100 * http_head.MAX_HEAD:
                connection.sendall(part)
                sent += len(part)
        answer = rest(connection)
    assert sent < 100 * http_head.MAX_HEAD
    assert not answer or answer.startswith(b"HTTP/1.1 400 ")
    assert served.get("/health/live").status == 200


def test_a_long_head_within_the_bound_is_read(served: Running) -> None:
    with connected(served) as connection:
        connection.sendall(REQUEST + b"name: " + b"x" * 50_000 + b"\r\nConnection: close\r\n\r\n")
        assert rest(connection).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("start", [b"", b"GET / HTTP", REQUEST])
def test_a_head_that_does_not_come_ends_the_connection(
    service: object, monkeypatch: pytest.MonkeyPatch, start: bytes
) -> None:
    monkeypatch.setattr(http_head, "HEAD_SECONDS", 0.2)
    with running(service) as server, connected(server) as connection:
        connection.sendall(start)
        assert rest(connection) == b""


def test_a_connection_takes_further_requests(service: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_head, "HEAD_SECONDS", 5)
    with running(service) as server, connected(server) as connection:
        for _ in range(3):
            connection.sendall(REQUEST + b"\r\n")
            answer = b""
            while not answer.endswith(b"}"):
                answer += connection.recv(65536)
            assert answer.startswith(b"HTTP/1.1 200 ")
