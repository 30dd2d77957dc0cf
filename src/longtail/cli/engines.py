"""The options of commands that can work on a Ray cluster: which engine, and where the cluster is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from longtail.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])

ENGINES = ("local", "ray")


def options(what: str) -> Callable[[F], F]:
    """Add ``--engine`` and ``--address``; ``what`` begins the sentence on where the work is done."""

    def add(command: F) -> F:
        command = click.option(
            "--address", metavar="HOST:PORT", help="The Ray cluster.  [default: a new one on this machine]"
        )(command)
        return click.option(
            "--engine",
            type=click.Choice(ENGINES),
            default="local",
            show_default=True,
            help=f"{what}: this process, or the workers of a Ray cluster.",
        )(command)

    return add


def check(engine: str, address: str | None) -> None:
    """Raise if the address of a cluster is given that would not be used."""
    if address is not None and engine != "ray":
        raise UsageError("--address names a Ray cluster: add --engine ray")


@contextmanager
def using(engine: str, address: str | None, jobs: int | None, purpose: str) -> Iterator[None]:
    """Work on what is inside with the engine; ``jobs``: threads of a worker, one by default."""
    if engine == "local":
        yield
        return
    from longtail.engine import use
    from longtail.engines.ray_cluster import cluster
    from longtail.engines.ray_engine import RayEngine

    with cluster(address, purpose) as ray, use(RayEngine(ray, jobs or 1)):
        yield
