"""``longtail estimate``: what a training will take, without training."""

from __future__ import annotations

from typing import Any

import click

from longtail.cli import options, output
from longtail.cli.session import current, verbosity
from longtail.cli.train import check_settings, create, gather_settings, read_sets


@click.command()
@click.argument("data", type=click.Path())
@click.option("--system", metavar="NAME", help="The system to train (see longtail info).  [default: auto]")
@options.config
@options.assignments
@options.fields
@options.format_of("DATA")
@options.reading
@options.jobs
@options.as_json
@verbosity
def command(
    data: str,
    system: str | None,
    config: str | None,
    assignments: tuple[str, ...],
    fields: str | None,
    format_: str | None,
    jobs: int | None,
    as_json: bool,
    **columns: Any,
) -> None:
    """Estimate memory, disk, model size and time of a training on DATA with longtail train.

    DATA is read as in training, and features of a few texts are computed; nothing is trained or written.
    """
    from longtail import threads
    from longtail.systems.cost import in_words
    from longtail.systems.estimate import estimate, in_gigabytes

    name, settings = gather_settings(system, config, assignments, fields, None)
    check_settings(name, settings, None)
    with threads.limit(jobs):
        sets, _ = read_sets(data, None, format_, options.read_options(columns), current())
        untrained, reason = create(name, settings, sets, None)
        found = estimate(untrained, sets["train"])
        cores = threads.jobs()
    if as_json:
        sizes = {"documents": len(sets["train"]), "labels": len(sets["train"].labels)}
        output.print_json({"system": untrained.name, "reason": reason, **sizes, **found.as_dict()})
        return
    if reason is not None:
        click.echo(reason)
    rows = [
        ["system", untrained.name],
        ["peak memory", in_gigabytes(found.memory_bytes)],
        ["disk", in_gigabytes(found.disk_bytes)],
        ["model size", in_gigabytes(found.model_bytes)],
        ["time", f"{in_words(found.seconds)} on {cores} core{'s' if cores > 1 else ''}"],
    ]
    output.print_table(rows)
