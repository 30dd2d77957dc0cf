"""``longtail convert``: the same data set in another format."""

from __future__ import annotations

from typing import Any

import click

from longtail.cli import options, output, source
from longtail.cli.session import current, verbosity


@click.command()
@click.argument("origin", metavar="SRC", type=click.Path())
@click.argument("target", metavar="DST", type=click.Path())
@click.option("--to", default="jsonl", show_default=True, metavar="NAME", help="The format to write.")
@options.format_of("SRC")
@options.label_file
@options.reading
@options.force
@verbosity
def command(
    origin: str, target: str, to: str, format_: str | None, labels: str | None, force: bool, **columns: Any
) -> None:
    """Read the data set SRC (a folder or a file) and write it to the folder DST."""
    from longtail import data
    from longtail.data.writing import left_out, writer_of

    session = current()
    writer_of(to)
    output.check_folder_is_free(target, force=force, inputs=[origin])
    run = session.run()
    with run.phase("read"), source.readable(origin) as place:
        parts = data.read_folder(place, format=format_, options=options.read_options(columns, labels=labels))
    with run.phase("write"):
        data.write(parts, target, format=to, force=force)
    session.written = True
    lost = left_out(parts, format=to)
    if lost is not None:
        session.say(f"warning: {lost}")
    session.say(
        f"{target}: {', '.join(f'{len(part):,} documents in {name}' for name, part in parts.items())}"
    )
