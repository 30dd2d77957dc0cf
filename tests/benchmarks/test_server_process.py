"""Servers under test, with a small one of the standard library."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.errors import BenchmarkError
from benchmarks.server_process import free_port, running


def test_a_server_is_waited_for_watched_and_ended(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    port = free_port()
    command = [
        sys.executable,
        *("-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", str(tmp_path)),
    ]
    with running(command, port, "/file", tmp_path / "log") as server:
        assert server.status("GET", "/file") == 200
        assert server.status("GET", "/no") == 404
        assert 1 < server.megabytes < 1000
        assert server.cpu_seconds > 0
    assert server.process.poll() is not None
    assert server.status("GET", "/file") == 0


def test_a_server_that_does_not_start_is_an_error(tmp_path: Path) -> None:
    with (
        pytest.raises(BenchmarkError, match="does not answer"),
        running([sys.executable, "-c", "exit(3)"], free_port(), "/", tmp_path / "log"),
    ):
        pass
