"""Servers under test: started, waited for, watched and ended."""

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.errors import BenchmarkError
from benchmarks.load import LOOPBACK

SECONDS_TO_START = 180
SECONDS_TO_END = 60


@dataclass(frozen=True)
class Server:
    """A process that answers at a port of this machine."""

    process: subprocess.Popen[bytes]
    port: int

    @property
    def megabytes(self) -> float:
        """Resident memory of the process and its children."""
        return sum(_resident(pid) for pid in _family(self.process.pid)) / 1e6

    @property
    def cpu_seconds(self) -> float:
        """Processor time of the process and its children so far."""
        return sum(_cpu_seconds(pid) for pid in _family(self.process.pid))

    def status(self, method: str, path: str, headers: Mapping[str, str] | None = None) -> int:
        """The status of the answer to a request; 0 without an answer."""
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=SECONDS_TO_START)
        try:
            connection.request(method, path, headers=dict(headers or {}))
            return connection.getresponse().status
        except OSError:
            return 0
        finally:
            connection.close()


@contextmanager
def running(
    command: Sequence[str], port: int, ready: str, log: Path, environment: Mapping[str, str] | None = None
) -> Iterator[Server]:
    """A server that answers ``GET ready`` with 200; it ends with the block."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, env={**os.environ, **(environment or {})}
        )
    server = Server(process, port)
    try:
        deadline = time.monotonic() + SECONDS_TO_START
        while server.status("GET", ready) != 200:
            if process.poll() is not None or time.monotonic() > deadline:
                raise BenchmarkError(f"{command[0]} does not answer: see {log}")
            time.sleep(0.1)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def longtail(models: Sequence[str], log: Path, *options: str) -> Iterator[Server]:
    """``longtail serve`` with these models, without feedback."""
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "longtail",
        "serve",
        *models,
        "--port",
        str(port),
        "--no-feedback",
        *options,
    ]
    with running(command, port, "/health/ready", log) as server:
        yield server


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _family(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return [pid]
    return [pid, *(member for child in children for member in _family(int(child)))]


def _resident(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
