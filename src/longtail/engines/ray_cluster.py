"""A Ray cluster: reached, or started on this machine, and known to have this version of longtail."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from longtail import __version__, threads
from longtail.errors import EngineError, MissingPackageError, UsageError

REACHED_WITHIN = 10.0
"""Seconds in which the head of a cluster must take a connection."""
ANSWERED_WITHIN = 120.0
"""Seconds in which a worker must have started and said which version of longtail it has."""


def ray_module(purpose: str) -> Any:
    """The module, with its token file in the home folder switched off unless the user wants it."""
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    # Ray gives a node of a new cluster 30 seconds to start, which a busy machine may not manage.
    os.environ.setdefault("RAY_raylet_start_wait_time_s", f"{ANSWERED_WITHIN:.0f}")
    try:
        return import_module("ray")
    except ImportError:
        raise MissingPackageError("ray", extra="ray", purpose=purpose) from None


@contextmanager
def cluster(address: str | None, purpose: str) -> Iterator[Any]:
    """Ray, connected to the cluster at ``address``, or to a new one on this machine that ends with the block.

    A cluster that this process is connected to already is used and left as it is.
    """
    ray = ray_module(purpose)
    if ray.is_initialized():
        check_version(ray)
        yield ray
        return
    _connect(ray, address)
    try:
        check_version(ray)
        yield ray
    finally:
        ray.shutdown()


def _connect(ray: Any, address: str | None) -> None:
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False, "include_dashboard": False}
    if address is not None:
        check_reachable(address)
        quiet.pop("include_dashboard")
    try:
        if address is None:
            ray.init(num_cpus=threads.jobs(), **quiet)
        else:
            ray.init(address=address, **quiet)
    except Exception as error:  # Whatever Ray raises: it has many kinds, and the user needs one sentence.
        where = "on this machine" if address is None else f"at {address}"
        raise EngineError(f"cannot use a Ray cluster {where}: {first_line(error)}") from error


def check_reachable(address: str) -> None:
    """Raise in bounded time where nothing answers; Ray itself would try for minutes."""
    place = address.removeprefix("ray://")
    host, mark, port = place.rpartition(":")
    if not mark or not port.isdigit() or not 0 < int(port) < 65536:
        raise UsageError(f"the address of a Ray cluster is host:port, as in 10.0.0.1:6379, not {address!r}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), REACHED_WITHIN).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise EngineError(
            f"no Ray cluster can be reached at {address} ({reason}): start one with ray start --head, or correct "
            "--address"
        ) from None


def check_version(ray: Any) -> None:
    """Raise if the workers have no longtail, or another version; results would not be the same."""

    def version() -> str | None:
        # Sent to the workers as it is: there may be no longtail there to import it from.
        from importlib import metadata

        try:
            return metadata.version("longtail")
        except metadata.PackageNotFoundError:
            return None

    try:
        found = ray.get(ray.remote(num_cpus=0)(version).remote(), timeout=ANSWERED_WITHIN)
    except ray.exceptions.GetTimeoutError:
        raise EngineError(
            f"no worker of the Ray cluster answered within {ANSWERED_WITHIN:.0f} seconds: see ray status"
        ) from None
    if found is None:
        raise EngineError(
            "the workers of the Ray cluster have no longtail: install the same version there (pip install longtail)"
        )
    if found != __version__:
        raise EngineError(
            f"the workers of the Ray cluster have longtail {found}, and this is {__version__}: install the same one"
        )


def first_line(error: BaseException) -> str:
    """The first line of what an error says."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
