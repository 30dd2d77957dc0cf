"""``longtail split``: divide a data set into parts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from longtail.cli import options, output, parts, source
from longtail.cli.session import current, verbosity
from longtail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longtail.cli.session import Session
    from longtail.data.splits import Method
    from longtail.types import Dataset

WARM_START = "warm-start"
BY_FIELD = ("group", "time", "labels")
"""Methods that may part near-duplicates."""
METHODS = ("random", "stratified", "group", "time", "labels", WARM_START)


def _shares(context: click.Context, parameter: click.Parameter, value: str) -> dict[str, float]:
    from longtail.data.parts import PARTS

    shares: dict[str, float] = {}
    for piece in value.split(","):
        name, _, number = piece.partition("=")
        part = name.strip()
        if part in shares:
            raise click.BadParameter(f"the part {part!r} is there twice", context, parameter)
        try:
            shares[part] = float(number)
        except ValueError:
            message = f"{piece!r} is not of the form part=share, as in train=.8,test=.2"
            raise click.BadParameter(message, context, parameter) from None
        if part not in PARTS:
            message = f"there is no part {part!r}; the parts are {', '.join(PARTS)}"
            raise click.BadParameter(message, context, parameter)
    return shares


@click.command()
@click.argument("origin", metavar="SRC", type=click.Path())
@click.option("-o", "--output", "target", required=True, type=click.Path(), help="The folder to write.")
@click.option("--method", default="random", show_default=True, type=click.Choice(METHODS), help="How.")
@click.option(
    "--fractions",
    default="train=.8,valid=.1,test=.1",
    show_default=True,
    callback=_shares,
    help="The share of each part.",
)
@click.option("--field", metavar="NAME", help="The key to divide by, for the methods group and time.")
@click.option(
    "--hold-out", default=0.1, show_default=True, help="The share of labels to keep from train, for labels."
)
@click.option(
    "--inductive", is_flag=True, help="For warm-start: keep the test documents out of the training data."
)
@click.option("--part", default="train", show_default=True, help="The part of SRC to divide.")
@click.option("--to", default="jsonl", show_default=True, metavar="NAME", help="The format to write.")
@options.format_of("SRC")
@options.label_file
@options.reading
@options.seed
@options.force
@verbosity
def command(
    origin: str,
    target: str,
    method: str,
    fractions: dict[str, float],
    field: str | None,
    hold_out: float,
    inductive: bool,
    part: str,
    to: str,
    format_: str | None,
    labels: str | None,
    seed: int | None,
    force: bool,
    **columns: Any,
) -> None:
    """Divide SRC (a file, or one part of a folder) into parts and write them to a folder.

    The method warm-start takes a folder with train and test, and reveals half of the labels of each test document.
    """
    from longtail import data
    from longtail.data.parts import PARTS
    from longtail.data.splits import split_dataset
    from longtail.data.writing import left_out, writer_of

    session = current()
    warm = method == WARM_START
    if inductive and not warm:
        raise UsageError(f"--inductive belongs to the method {WARM_START}, not to {method}")
    writer_of(to)
    output.check_folder_is_free(target, force=force, inputs=[origin])
    run = session.run()
    with run.phase("read"), source.readable(origin) as place:
        wanted = PARTS if warm else (part,) if Path(place).is_dir() else ("train",)
        sets = data.read_folder(
            place, format=format_, options=options.read_options(columns, labels=labels), parts=wanted
        )
    with run.phase("split"):
        if warm:
            divided = _warm_start(sets, origin, seed or 0, inductive)
        else:
            divided = split_dataset(
                parts.choose(sets, part, origin),
                cast("Method", method),
                fractions,
                seed or 0,
                field=field,
                hold_out=hold_out,
            )
    with run.phase("write"):
        data.write(divided, target, format=to, force=force)
    session.written = True
    if method in BY_FIELD:
        _warn_of_copies(session, divided, method)
    lost = left_out(divided, format=to)
    if lost is not None:
        session.say(f"warning: {lost}")
    session.say(
        f"{target}: {', '.join(f'{len(piece):,} documents in {name}' for name, piece in divided.items())}"
    )


def _warn_of_copies(session: Session, divided: Mapping[str, Dataset], method: str) -> None:
    from longtail.data.near_duplicates import shared_with_first

    counts = shared_with_first([part.documents for part in divided.values()])
    first, *others = divided
    for name, count in zip(others, counts, strict=True):
        if count:
            session.say(
                f"warning: {count:,} documents of {name} have near-duplicates in {first}, so metrics will be too "
                f"high: remove them, or use the method random or stratified, which keep them together, not {method}"
            )


def _warm_start(sets: dict[str, Dataset], origin: str, seed: int, inductive: bool) -> dict[str, Dataset]:
    from longtail.data import warm_start

    for part in ("train", "test"):
        if part not in sets:
            raise UsageError(
                f"{origin} has no part '{part}', and the method {WARM_START} needs train and test"
            )
    return {
        **sets,
        **warm_start.protocol(sets["train"], sets["test"], seed=seed, inductive=inductive)._asdict(),
    }
