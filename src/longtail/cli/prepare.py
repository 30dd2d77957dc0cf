"""``longtail prepare``: texts, features and labels of training data as files that training maps into memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longtail.cli import options, output
from longtail.cli.session import current, verbosity
from longtail.cli.train import AUTO, gather_settings, read_sets
from longtail.errors import UsageError

if TYPE_CHECKING:
    from longtail.types import Dataset


@click.command()
@click.argument("data", type=click.Path())
@click.option("-o", "--output", "folder", required=True, type=click.Path(), help="The folder to write.")
@click.option("--system", metavar="NAME", required=True, help="The system that will be trained.")
@options.vocabulary
@options.fields
@options.no_hold_out
@options.config
@options.assignments
@options.format_of("DATA")
@options.reading
@options.seed
@options.jobs
@options.as_json
@options.force
@verbosity
def command(
    data: str,
    folder: str,
    system: str,
    vocabulary: str | None,
    fields: str | None,
    no_hold_out: bool,
    config: str | None,
    assignments: tuple[str, ...],
    format_: str | None,
    seed: int | None,
    jobs: int | None,
    as_json: bool,
    force: bool,
    **columns: Any,
) -> None:
    """Write texts, features and labels of DATA to a folder, for longtail train in little memory.

    Stopped and given again, the command goes on after its last finished step.
    """
    from dataclasses import asdict

    from longtail import __version__, systems, threads
    from longtail.config import to_dict
    from longtail.prepared.build import prepare, preparing, refuse_existing
    from longtail.prepared.folder import is_prepared
    from longtail.prepared.source import stamps
    from longtail.systems.tfidf_settings import tfidf_settings
    from longtail.systems.validation_part import with_validation_part

    name, settings = gather_settings(system, config, assignments, fields, seed)
    if name == AUTO:
        raise UsageError(
            "features depend on the system, which auto chooses by the data: name it with --system"
        )
    untrained = systems.create(name, settings)
    reading, session = options.read_options(columns), current()
    run = session.run()
    inputs = [data] if vocabulary is None else [data, vocabulary]
    if is_prepared(data):
        raise UsageError(f"{data} is prepared already: name the data that it was made from")
    output.check_name(folder, inputs)
    refuse_existing(Path(folder).resolve(), folder, force)
    source = stamps(inputs)
    wanted = {
        "version": __version__,
        "source": source,
        "system": name,
        "settings": to_dict(untrained.config),
        "reading": {key: value for key, value in asdict(reading).items() if value is not None},
        "format": format_,
        "hold_out": not no_hold_out,
    }

    def hold_out(train: Dataset, valid: Dataset | None, note: Any) -> None:
        with_validation_part(untrained, train, valid, run, wanted=not no_hold_out, note=note)

    with threads.limit(jobs), preparing(folder, wanted, run, force=force) as preparation:
        summary = prepare(
            preparation,
            folder,
            lambda: read_sets(data, vocabulary, format_, reading, session),
            hold_out,
            lambda train: tfidf_settings(untrained, train.labels),
            source,
            untrained.config.seed,
        )
    session.written = True
    if as_json:
        output.print_json({"folder": folder, "seconds": run.seconds, **summary})
    elif not session.quiet:
        size = output.size_in_words(summary["bytes"])
        click.echo(
            f"{folder}: {summary['documents']:,} training documents and {summary['labels']:,} labels prepared for "
            f"'{name}' ({size}); train with: longtail train {folder} -o MODEL --system {name}"
        )
