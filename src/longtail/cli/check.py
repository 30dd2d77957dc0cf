"""``longtail check``: sizes, label frequencies and problems of a data set."""

from __future__ import annotations

from typing import Any

import click

from longtail.cli import options, output, source
from longtail.cli.session import verbosity


@click.command()
@click.argument("path", type=click.Path())
@options.format_of("PATH")
@options.label_file
@options.reading
@options.as_json
@verbosity
def command(path: str, format_: str | None, labels: str | None, as_json: bool, **columns: Any) -> None:
    """Read the data set at PATH and report sizes, label frequencies and problems; exit 1 if it is not readable."""
    from longtail import data

    with source.readable(path) as place:
        report = data.check(place, format=format_, options=options.read_options(columns, labels=labels))
    if as_json:
        output.print_json(report.to_dict())
    else:
        for line in report.lines():
            click.echo(line.replace(place, path))
    if not report.ok:
        raise click.exceptions.Exit(1)
