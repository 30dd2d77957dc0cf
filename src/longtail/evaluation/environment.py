"""What a result ran on: versions and memory."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from pathlib import Path

PACKAGES = ("longtail", "numpy", "scipy", "numba", "tokenizers", "safetensors")
STATUS = Path("/proc/self/status")


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a model and its metrics depend on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def peak_memory() -> int | None:
    """The most memory this process has had so far, in bytes; None where the system does not say."""
    # Linux first: its getrusage begins with the memory of whatever started this process.
    try:
        status = STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        status = []
    for line in status:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else int(peak) * 1024
