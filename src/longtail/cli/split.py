"""``longtail split``: divide a data set into parts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longtail.cli import options, output, parts, source
from longtail.cli.session import current, loudness

if TYPE_CHECKING:
    from longtail.data.splits import Method

METHODS = ("random", "stratified", "group", "time", "labels")


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
@click.option("--part", default="train", show_default=True, help="The part of SRC to divide.")
@click.option("--to", default="jsonl", show_default=True, metavar="NAME", help="The format to write.")
@click.option("--format", "format_", metavar="NAME", help="The format of SRC.  [default: guessed]")
@options.reading
@options.seed
@options.force
@loudness
def command(
    origin: str,
    target: str,
    method: Method,
    fractions: dict[str, float],
    field: str | None,
    hold_out: float,
    part: str,
    to: str,
    format_: str | None,
    seed: int | None,
    force: bool,
    **columns: Any,
) -> None:
    """Divide SRC (a file, or one part of a folder) into parts and write them to a folder."""
    from longtail import data
    from longtail.data.splits import split_dataset
    from longtail.data.writing import left_out, writer_of

    session = current()
    writer_of(to)
    output.check_folder_is_free(target, force=force, inputs=[origin])
    run = session.run()
    with run.phase("read"), source.readable(origin) as place:
        wanted = (part,) if Path(place).is_dir() else ("train",)
        sets = data.read_folder(place, format=format_, options=options.read_options(columns), parts=wanted)
    with run.phase("split"):
        divided = split_dataset(
            parts.choose(sets, part, origin),
            method,
            fractions,
            seed or 0,
            field=field,
            hold_out=hold_out,
        )
    with run.phase("write"):
        data.write(divided, target, format=to, force=force)
    session.written = True
    lost = left_out(divided, format=to)
    if lost is not None:
        session.say(f"warning: {lost}")
    session.say(
        f"{target}: {', '.join(f'{len(piece):,} documents in {name}' for name, piece in divided.items())}"
    )
