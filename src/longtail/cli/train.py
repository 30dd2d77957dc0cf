"""``longtail train``: read, learn, save, and say what was learnt."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longtail.cli import options, output, source
from longtail.cli.session import current, loudness
from longtail.errors import ConfigError

if TYPE_CHECKING:
    from longtail.cli.session import Session
    from longtail.run import Run
    from longtail.systems.base import System


@click.command()
@click.argument("data", type=click.Path())
@click.option("-o", "--output", "model", required=True, type=click.Path(), help="The model folder to write.")
@click.option("--system", metavar="NAME", help="The system to train (see longtail info).  [default: linear]")
@click.option("--fields", metavar="NAMES", help="What makes a document's text: title, text or title,text.")
@click.option("--config", type=click.Path(), help="A TOML file of settings.")
@click.option(
    "--set", "assignments", multiple=True, metavar="KEY=VALUE", help="One setting; may be repeated."
)
@click.option("--format", "format_", metavar="NAME", help="The format of DATA.  [default: guessed]")
@options.reading
@options.seed
@options.jobs
@options.as_json
@options.force
@click.option(
    "--resume", is_flag=True, help="Go on with a training of this model that was stopped (MODEL.checkpoints)."
)
@loudness
def command(
    data: str,
    model: str,
    system: str | None,
    fields: str | None,
    config: str | None,
    assignments: tuple[str, ...],
    format_: str | None,
    seed: int | None,
    jobs: int | None,
    as_json: bool,
    force: bool,
    resume: bool,
    **columns: Any,
) -> None:
    """Learn a model from DATA, a folder with train (and valid) or one file, and write it to a folder."""
    from longtail import systems, threads
    from longtail.data import read_folder
    from longtail.training import checkpoint

    name, settings = gather_settings(system, config, assignments, fields, seed)
    untrained = systems.create(name, settings)
    output.check_folder_is_free(model, force=force, inputs=[data])
    kept = checkpoint.beside(model)
    if not resume and not force:
        checkpoint.refuse_existing(kept)
    session = current()
    run = session.run()
    run.checkpoints, run.resume = kept, resume
    with threads.limit(jobs):
        with run.phase("read"), source.readable(data) as place:
            # The test part is not even looked at.
            sets = read_folder(
                place, format=format_, options=options.read_options(columns), parts=("train", "valid")
            )
        with checkpoints_of(run, session, name):
            start = time.perf_counter()
            trained = untrained.fit(sets["train"], valid=sets.get("valid"), run=run)
            # Phases may be parts of others, so their seconds do not add up to this.
            learning = time.perf_counter() - start
            with run.phase("save"):
                trained.save(model, force=force)
    session.written = True
    summary = summarise(trained, model, run.seconds, learning)
    if as_json:
        output.print_json(summary)
    elif not session.quiet:
        _print(summary)


@contextmanager
def checkpoints_of(run: Run, session: Session, system: str) -> Iterator[None]:
    """Train and save the model inside: its checkpoints are nobody else's meanwhile, and go when it is saved."""
    from longtail.storage.lock import only_writer
    from longtail.training import checkpoint

    kept = run.checkpoints
    assert kept is not None
    # A parent folder that is missing appears with the first output: until then there is nothing to guard.
    with only_writer(kept.absolute()) if kept.parent.is_dir() else nullcontext():
        if not run.resume and checkpoint.exists(kept):
            checkpoint.remove(kept)
        try:
            yield
        except BaseException:
            if run.in_stages and checkpoint.exists(kept):
                session.written = True
                session.say(f"what was learnt is kept in {kept}: add --resume to go on with it")
            raise
        if run.in_stages:
            checkpoint.remove(kept)
    if run.resume and not run.in_stages:
        run.say(f"the system '{system}' does not train in stages: --resume changes nothing, it began anew")


def gather_settings(
    system: str | None,
    config: str | None,
    assignments: tuple[str, ...],
    fields: str | None,
    seed: int | None,
) -> tuple[str, dict[str, Any]]:
    """The system's name and its settings: the file, then ``--set``, then the options that are settings."""
    from longtail.config import merge, parse_overrides, read_toml

    settings = read_toml(config) if config else {}
    named = settings.pop("system", "linear")
    if not isinstance(named, str):
        raise ConfigError(f"{config}: 'system' must be a system's name, not {named!r}")
    settings = merge(settings, parse_overrides(assignments))
    if fields is not None:
        settings["fields"] = [field.strip() for field in fields.split(",")]
    if seed is not None:
        settings["seed"] = seed
    return system or named, settings


def summarise(system: System, path: str, seconds: dict[str, float], learning: float) -> dict[str, Any]:
    """What was learnt, as plain data; ``learning`` is how long that took in all."""
    counts = system.label_counts_
    return {
        "model": path,
        "system": system.name,
        "documents": system.facts_.documents,
        "labels": len(counts),
        "labels_seen": int((counts > 0).sum()),
        "bytes": output.bytes_below(Path(path)),
        "seconds": {phase: round(taken, 3) for phase, taken in seconds.items()},
        "ms_a_document": round(1e3 * learning / system.facts_.documents, 4),
        "metrics": dict(system.facts_.metrics),
    }


def _print(summary: dict[str, Any]) -> None:
    from longtail.cli.info import print_figures
    from longtail.cli.progress import duration

    click.echo(
        f"{summary['model']}: '{summary['system']}' learnt {summary['labels_seen']:,} labels "
        f"(of {summary['labels']:,}) from {summary['documents']:,} documents"
    )
    rows = [[phase, duration(taken)] for phase, taken in summary["seconds"].items()]
    rows.append(["a document", f"{summary['ms_a_document']:.3g} ms"])
    rows.append(["model size", output.size_in_words(summary["bytes"])])
    output.print_table(rows, indent="  ")
    print_figures(summary["metrics"])
