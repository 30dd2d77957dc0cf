"""``longtail check``: what a data set holds, and what is odd about it."""

from __future__ import annotations

import click

from longtail.cli import options, output
from longtail.cli.session import loudness


@click.command()
@click.argument("path", type=click.Path())
@options.as_json
@loudness
def command(path: str, as_json: bool) -> None:
    """Read the data set at PATH and report sizes, label frequencies and oddities."""
    from longtail import data

    report = data.check(path)
    if as_json:
        output.print_json(report.to_dict())
    else:
        for line in report.lines():
            click.echo(line)
