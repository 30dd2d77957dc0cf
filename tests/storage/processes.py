"""Runs a piece of Python in a process of its own, for what can't be done to the test's process."""

import subprocess
import sys
from pathlib import Path


def start(code: str, *arguments: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def run(code: str, *arguments: str | Path) -> str:
    process = start(code, *arguments)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out
