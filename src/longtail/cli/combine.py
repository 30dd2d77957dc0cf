"""``longtail combine``: trained models as the members of one ensemble."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longtail.cli import options, output, parts, source
from longtail.cli.session import current, verbosity
from longtail.errors import UsageError

if TYPE_CHECKING:
    from longtail.data import ReadOptions
    from longtail.types import Dataset


@click.command()
@click.argument("models", metavar="MODEL...", nargs=-1, required=True, type=click.Path())
@click.option(
    "--valid",
    "data",
    metavar="DATA",
    required=True,
    type=click.Path(),
    help="Validation documents, on which no model was trained: a folder with valid, or a file.",
)
@click.option("-o", "--output", "target", required=True, type=click.Path(), help="The model folder to write.")
@options.format_of("DATA")
@options.reading
@options.jobs
@options.as_json
@options.force
@verbosity
def command(
    models: tuple[str, ...],
    data: str,
    target: str,
    format_: str | None,
    jobs: int | None,
    as_json: bool,
    force: bool,
    **columns: Any,
) -> None:
    """Combine trained models of the same labels into an ensemble.

    A re-ranker of their candidates is fitted on validation documents; the models do not change.
    """
    import longtail
    from longtail import threads
    from longtail.cli.info import print_metrics
    from longtail.systems.ensemble.system import Ensemble

    session = current()
    output.check_folder_is_free(target, force=force, inputs=[*models, data])
    run = session.run()
    with threads.limit(jobs):
        with run.phase("load"):
            loaded = [longtail.load(model) for model in models]
        with run.phase("read"):
            valid = read_valid(data, format_, options.read_options(columns))
        ensemble = Ensemble.combine(loaded, valid, run=run)
        with run.phase("save"):
            ensemble.save(target, force=force)
    session.written = True
    members = list(ensemble.config.members)
    if as_json:
        size = output.bytes_below(Path(target))
        metrics = dict(ensemble.facts_.metrics)
        output.print_json({"model": target, "members": members, "bytes": size, "metrics": metrics})
    elif not session.quiet:
        click.echo(f"{target}: an ensemble of {', '.join(members)}; {len(ensemble.labels_):,} labels")
        print_metrics(ensemble.facts_.metrics)


def read_valid(data: str, format_: str | None, reading: ReadOptions) -> Dataset:
    """The part valid of a folder, or a whole file."""
    from longtail.data import read_folder

    with source.readable(data) as place:
        wanted = ("valid",) if Path(place).is_dir() else ("train",)
        valid = parts.choose(read_folder(place, format=format_, options=reading, parts=wanted), "valid", data)
    if not len(valid) or not valid.Y.nnz:
        raise UsageError(f"{data} has no validation documents with labels: the re-ranker is fitted on them")
    return valid
