"""The server as a process of its own: signals, the drain, and its exit code."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue
from urllib.parse import urlsplit

import pytest

from longtail.errors import UsageError
from longtail.serving.registry import version_of
from longtail.serving.server import bound_socket, url_of
from tests.serving.running import Answer, ask

BODY = json.dumps({"documents": [{"text": "a text"}]}).encode()


@dataclass
class Process:
    popen: subprocess.Popen[str]
    url: str = ""
    said: list[str] = field(default_factory=list)
    lines: Queue[str] = field(default_factory=Queue)

    def __post_init__(self) -> None:
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.popen.stderr is not None
        for line in self.popen.stderr:
            self.said.append(line)
            self.lines.put(line)
        self.lines.put("")

    def wait_for(self, pattern: str) -> re.Match[str]:
        """The next line of its log that has the pattern."""
        while line := self.lines.get(timeout=120):
            found = re.search(pattern, line)
            if found:
                return found
        raise AssertionError("".join(self.said))

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        return ask(self.url, method, path, body, headers)


@contextmanager
def process(*arguments: object, **environment: str) -> Iterator[Process]:
    command = [
        sys.executable,
        "-u",
        "-m",
        "longtail",
        "serve",
        *map(str, arguments),
        "--port",
        "0",
        "-j",
        "1",
    ]
    popen = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, bufsize=1, env={**os.environ, **environment}
    )
    made = Process(popen)
    try:
        made.url = made.wait_for(r"serving at (\S+)")[1]
        yield made
    finally:
        popen.kill()
        popen.wait()


def test_sigterm_answers_what_was_asked_refuses_what_is_new_and_ends_with_0(linear: Path):
    with process(linear) as server:
        place = urlsplit(server.url)
        # Half a request is under way.
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
        connection.putrequest("POST", "/v1/models/linear/predict")
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(len(BODY)))
        connection.endheaders()
        connection.send(BODY[:10])
        idle = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
        idle.request("GET", "/health/ready")
        assert idle.getresponse().read()
        server.popen.send_signal(signal.SIGTERM)
        refused = False
        for _ in range(600):
            try:
                socket.create_connection((place.hostname, place.port), timeout=5).close()
            except ConnectionRefusedError:
                refused = True
                break
            time.sleep(0.05)
        assert refused
        assert server.popen.poll() is None
        connection.send(BODY[10:])
        answer = connection.getresponse()
        assert answer.status == 200
        assert len(json.loads(answer.read())["predictions"]) == 1
        assert server.popen.wait(60) == 0


LOADING = """
import os, signal
from longtail.serving.server import end_at_once_on_signals

class Swallows:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)

end_at_once_on_signals()
Swallows()  # an exception in __del__ goes nowhere, as in the callbacks of a compiler
print("goes on")
"""


def test_sigterm_while_models_are_loaded_ends_the_process():
    done = subprocess.run([sys.executable, "-c", LOADING], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "")


def test_requests_that_do_not_end_are_cut_off_after_the_drain(linear: Path):
    with process(linear, "--drain", 1) as server:
        place = urlsplit(server.url)
        with socket.create_connection((place.hostname, place.port), timeout=60) as connection:
            connection.sendall(
                b"POST /v1/models/linear/predict HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\n{"
            )
            assert ask(server.url, "GET", "/health/ready").status == 200
            server.popen.send_signal(signal.SIGINT)
            assert server.popen.wait(60) == 0


def test_sighup_loads_what_changed_and_keeps_what_works(linear: Path, knn: Path, tmp_path: Path):
    folder = Path(shutil.copytree(linear, tmp_path / "model"))
    with process(f"m={folder}") as server:
        assert server.ask("GET", "/v1/models/m").json["version"] == version_of(linear)
        shutil.rmtree(folder)
        shutil.copytree(knn, folder)
        server.popen.send_signal(signal.SIGHUP)
        server.wait_for("models reloaded")
        assert server.ask("GET", "/v1/models/m").json["version"] == version_of(knn)
        (folder / "manifest.json").write_text("{}")
        server.popen.send_signal(signal.SIGHUP)
        server.wait_for("the models stay as they are: .*manifest")
        answer = server.ask("POST", "/v1/models/m/predict", BODY)
        assert answer.json["version"] == version_of(knn)
        server.popen.send_signal(signal.SIGTERM)
        assert server.popen.wait(60) == 0


def test_the_log_has_no_texts_and_the_token_comes_from_the_environment(linear: Path):
    token = "a token of this test"
    with process(linear, LONGTAIL_ADMIN_TOKEN=token) as server:
        body = {"documents": [{"text": "a secret text"}]}
        assert server.ask("POST", "/v1/models/linear/predict", body).status == 200
        assert server.ask("GET", "/v1/models/linear/labels?q=secret").status == 200
        assert server.ask("POST", "/admin/reload", Authorization=f"Bearer {token}").status == 200
        server.wait_for("POST '/admin/reload' 200")
        assert "secret" not in "".join(server.said)
        assert token not in "".join(server.said)


def test_a_port_in_use_is_said_before_models_are_loaded():
    with bound_socket("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        assert url_of(taken) == f"http://127.0.0.1:{port}"
        with pytest.raises(UsageError, match=f"port {port}: Address already in use"):
            bound_socket("127.0.0.1", port)
    with pytest.raises(UsageError, match=r"cannot serve at no\.such\.host\.invalid"):
        bound_socket("no.such.host.invalid", 0)


def test_addresses_of_version_6_are_urls():
    try:
        bound = bound_socket("::1", 0)
    except UsageError:
        pytest.skip("this machine has no IPv6")
    with bound:
        assert re.fullmatch(r"http://\[::1\]:\d+", url_of(bound))
