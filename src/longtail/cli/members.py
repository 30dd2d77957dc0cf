"""Which members of an ensemble predict: chosen by name, or by a budget of latency."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from longtail.errors import UnsupportedError, UsageError

if TYPE_CHECKING:
    from longtail.cli.session import Session
    from longtail.systems.base import System
    from longtail.types import Documents

F = TypeVar("F", bound=Callable[..., Any])


def options(command: F) -> F:
    """Add ``--latency`` and ``--members``."""
    command = click.option(
        "--members", metavar="NAMES", help="Members of an ensemble to use, as in linear,lexical."
    )(command)
    return click.option(
        "--latency",
        metavar="MS",
        type=click.FloatRange(min=0, min_open=True),
        help="Milliseconds per document that an ensemble may take: slow members are not used.",
    )(command)


def check(latency: float | None, members: str | None) -> None:
    """Refuse both ways of choosing at once."""
    if latency is not None and members is not None:
        raise UsageError("--latency and --members both choose the members to use: give one of them")


def chosen(
    system: System, documents: Documents, latency: float | None, members: str | None, session: Session
) -> System:
    """The system with the members that were asked for; which ones, and why, is said.

    Args:
        documents: documents at hand, on which members are timed.
    """
    if latency is None and members is None:
        return system
    from longtail.systems.ensemble.system import Ensemble

    if not isinstance(system, Ensemble):
        option = "--latency" if members is None else "--members"
        raise UnsupportedError(f"{option} is for ensembles: the model is one of the system '{system.name}'")
    if members is not None:
        smaller = system.with_members([name.strip() for name in members.split(",") if name.strip()])
        session.say(f"members used: {', '.join(m.name for m in smaller.members_)}")
        return smaller
    assert latency is not None
    if not len(documents):
        return system
    smaller, taken = system.within_latency(documents, latency)
    used = [m.name for m in smaller.members_]
    timed = ", ".join(f"{name} {taken[name]:.3g} ms" for name in taken)
    session.say(f"members used within {latency:g} ms per document: {', '.join(used)} (measured: {timed})")
    needed = sum(taken[name] for name in used)
    if needed > latency:
        session.say(f"warning: even the fastest members take {needed:.3g} ms per document")
    return smaller
