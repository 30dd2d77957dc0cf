"""What a result ran on: versions and memory."""

from __future__ import annotations

import platform
import sys
from importlib import metadata

PACKAGES = ("longtail", "numpy", "scipy", "numba")


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that the figures depend on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def peak_memory() -> int | None:
    """The most memory this process has had so far, in bytes; None where the system does not say."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else int(peak) * 1024
