"""A soak of seconds against a small server in a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks import soak as module
from benchmarks.load import post
from benchmarks.server_process import Server, free_port, running
from benchmarks.soak import growth_per_hour, soak

PROGRAM = """
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(500 if body == b"bad" else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place: Path = tmp_path_factory.mktemp("server")
    port = free_port()
    with running([sys.executable, "-c", PROGRAM, str(port)], port, "/", place / "log") as server:
        yield server


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BETWEEN", 0.5)
    monkeypatch.setattr(module, "WARM_UP", 0.1)


def test_a_share_of_the_measured_throughput(server: Server) -> None:
    kept: list[dict[str, Any]] = []
    found = soak(server, [post("/", b"x")], minutes=0.06, seconds=0.5, keep=kept.append)
    assert found["share of the measured throughput"] == pytest.approx(0.8)
    assert found["rate per second"] == pytest.approx(0.8 * found["most per second"])
    assert found["per second"] <= found["rate per second"] * 1.05
    assert found["failed requests"] == 0
    assert found["processor seconds of the server"] > 0
    assert [seconds for seconds, _ in found["megabytes"]] == sorted(s for s, _ in found["megabytes"])
    assert kept
    assert kept[-1]["requests"] <= found["requests"]
    assert kept[-1]["failed requests"] == 0


def test_a_given_rate_and_failures(server: Server) -> None:
    kept: list[dict[str, Any]] = []
    asked = [post("/", b"x"), post("/", b"bad")]
    found = soak(server, asked, minutes=0.03, seconds=0.2, rate=40, keep=kept.append)
    assert found["rate per second"] == 40
    assert found["failed requests"] == found["statuses"]["500"] > 0
    assert kept[-1]["failed requests"] > 0


def test_growth_per_hour() -> None:
    assert growth_per_hour([(0, 100), (1800, 101), (3600, 102)]) == pytest.approx(2)
    assert growth_per_hour([(0, 100), (10, 100)]) == pytest.approx(0, abs=1e-6)
    assert growth_per_hour([(0, 100)]) == 0
