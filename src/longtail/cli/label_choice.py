"""Options that choose how many labels a document gets, alike in ``predict`` and ``evaluate``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from longtail.errors import UsageError

if TYPE_CHECKING:
    from longtail.cli.session import Session
    from longtail.systems.base import System

F = TypeVar("F", bound=Callable[..., Any])


def _number(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    if value is not None and value != value:
        raise click.BadParameter("'nan' is not a score to compare with", context, parameter)
    return value


def _threshold(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    if value is not None:
        from longtail.topk import check_threshold

        check_threshold(value, "--threshold")
    return value


def options(command: F) -> F:
    """Add ``--threshold``, ``--precision``, ``--precision-by`` and ``--max-f1``."""
    for option in (
        click.option(
            "--max-f1", is_flag=True, help="As many labels per document as have the highest expected F1."
        ),
        click.option(
            "--precision-by",
            type=click.Choice(["all", "frequency"]),
            default="all",
            show_default=True,
            help="Keep --precision over all labels, or in every frequency bin of labels.",
        ),
        click.option(
            "--precision",
            type=float,
            callback=_number,
            metavar="SHARE",
            help="Omit labels so that this share of the others is right, as counted on validation documents.",
        ),
        click.option(
            "--threshold",
            type=float,
            callback=_threshold,
            help="Omit labels with a lower score, from 0 to 1.",
        ),
    ):
        command = option(command)
    return command


def chosen(columns: dict[str, Any]) -> dict[str, Any]:
    """The arguments of ``System.predict``, taken out of all options; two ways to choose at once are refused."""
    found = {name: columns.pop(name) for name in ("threshold", "precision", "precision_by", "max_f1")}
    ways = [
        f"--{name.replace('_', '-')}"
        for name in ("threshold", "precision", "max_f1")
        if found[name] is not None and found[name] is not False
    ]
    if len(ways) > 1:
        raise UsageError(f"{' and '.join(ways)} exclude each other: give one of them")
    if found["precision"] is None and found["precision_by"] != "all":
        raise UsageError("--precision-by says how --precision is kept: give that too")
    return found


def check(system: System, choice: dict[str, Any], session: Session) -> None:
    """Refuse what the model cannot do, and say what a precision costs."""
    from longtail.systems.label_choice import LabelChoice

    asked = LabelChoice(**choice)
    asked.check(system)
    if (sentence := asked.promise(system)) is not None:
        session.say(sentence)
