"""A Ray cluster with two workers on this machine, for tests; they are skipped where Ray is not installed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import pytest

from longtail.engines.ray_cluster import ray_module

needs_ray = pytest.mark.skipif(
    find_spec("ray") is None, reason="Ray is not installed: pip install 'longtail[ray]'"
)


@contextmanager
def two_workers() -> Iterator[Any]:
    """Ray, connected to a new cluster."""
    found = ray_module("tests")
    found.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        yield found
    finally:
        found.shutdown()


def workers() -> list[int]:
    """The processes of the cluster of this process that run prediction tasks, by their ids."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as handle:
                command = handle.read()
        except OSError:
            continue
        # Agents of a node are processes of the same kind of name; a node ends with its agents.
        if not command.startswith(b"ray::") or b"Agent" in command.split(b"\0")[0]:
            continue
        if os.getpid() in ancestors(int(name)):
            found.append(int(name))
    return found


def ancestors(process: int) -> list[int]:
    found = []
    while process > 1:
        try:
            with open(f"/proc/{process}/stat") as handle:
                process = int(handle.read().rpartition(")")[2].split()[1])
        except OSError:
            break
        found.append(process)
    return found
