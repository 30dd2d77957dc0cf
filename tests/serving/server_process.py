"""``longtail serve`` as a process of its own."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class ServerProcess:
    """A running server; ``lines`` is what it has said so far."""

    def __init__(self, *arguments: object) -> None:
        command = [sys.executable, "-m", "longtail", "serve", "--port", "0", *map(str, arguments)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.lines: list[str] = []
        self._ready = threading.Event()
        self.url = ""
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if line.startswith("serving at "):
                self.url = line.removeprefix("serving at ").split()[0]
                self._ready.set()
        self._ready.set()

    def wait_until_ready(self) -> None:
        """Return when requests are answered."""
        assert self._ready.wait(120)
        assert self.url, "".join(self.lines)

    def kill(self) -> None:
        """kill -9."""
        self.process.kill()
        self.process.wait()

    def terminate(self) -> int:
        """SIGTERM; the exit code."""
        self.process.terminate()
        return self.process.wait(60)


@contextmanager
def serving(model: Path, *arguments: object) -> Iterator[ServerProcess]:
    """A server of this model, which is killed when the block ends."""
    server = ServerProcess(model, *arguments)
    try:
        server.wait_until_ready()
        yield server
    finally:
        if server.process.poll() is None:
            server.kill()
