"""Where and with which code a run was made."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from longtail import threads


def machine() -> dict[str, Any]:
    """Cores, processor, memory and system."""
    return {
        "cores": threads.available(),
        "processor": _first_field(Path("/proc/cpuinfo"), "model name") or platform.processor() or "unknown",
        "memory": _first_field(Path("/proc/meminfo"), "MemTotal") or "unknown",
        "system": platform.platform(),
        "load_at_start": os.getloadavg()[0],
    }


def code(root: Path) -> dict[str, Any]:
    """The commit of the work tree, and whether files differ from it."""
    commit = _git(root, "rev-parse", "HEAD")
    return {"commit": commit, "changed": bool(_git(root, "status", "--porcelain", "--", "src"))}


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _first_field(file: Path, name: str) -> str | None:
    if not file.exists():
        return None
    lines = file.read_text(errors="replace").splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), None)
