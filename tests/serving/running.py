"""A real server of this process, and requests to it as a browser would send them."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from longtail.serving.app import create_app
from longtail.serving.server import Server, bound_socket, url_of
from longtail.serving.service import Service


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def detail(self) -> str:
        """The sentence of a problem, which must be a whole one."""
        assert self.headers["content-type"] == "application/problem+json", self.body
        assert self.json["status"] == self.status
        assert self.json["title"]
        assert self.json["type"]
        return str(self.json["detail"])


@dataclass(frozen=True)
class Running:
    url: str
    service: Service
    server: Server
    headers: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        return ask(self.url, method, path, body, {**self.headers, **(headers or {})})

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, headers=headers)

    def post(self, path: str, body: Any, **headers: str) -> Answer:
        return self.ask("POST", path, body, headers)


def ask(url: str, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
    """One request on a connection of its own; what is not bytes is sent as JSON."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    headers = dict(headers or {})
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
    if body is not None:
        headers.setdefault("Content-Type", "application/json")
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return Answer(
            answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        )
    finally:
        connection.close()


@contextmanager
def running(service: Service, **options: Any) -> Iterator[Running]:
    """Serve on a free port until the end of the block."""
    bound = bound_socket("127.0.0.1", 0)
    server = Server(create_app(service, **options), service)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    deadline = time.monotonic() + 60
    while not server.started and thread.is_alive() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert server.started
    try:
        yield Running(url_of(bound), service, server)
    finally:
        server.should_exit = True
        thread.join(60)
