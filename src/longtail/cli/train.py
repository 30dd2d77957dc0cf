"""``longtail train``: read, choose a system, train, save, and report."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longtail.cli import engines, options, output, source
from longtail.cli.session import current, verbosity
from longtail.errors import ConfigError, UsageError
from longtail.torchrun import Launch

if TYPE_CHECKING:
    from longtail.cli.session import Session
    from longtail.data import ReadOptions
    from longtail.run import Run
    from longtail.systems.base import System
    from longtail.types import Dataset

AUTO = "auto"
"""Not a system: the choice of one."""


@click.command()
@click.argument("data", type=click.Path(), required=False)
@click.option("-o", "--output", "model", required=True, type=click.Path(), help="The model folder to write.")
@click.option("--system", metavar="NAME", help="The system to train (see longtail info).  [default: auto]")
@click.option("--budget", metavar="TIME", help="Training time that auto may use: 90s, 30m, 2h.")
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
@click.option(
    "--max-memory",
    metavar="SIZE",
    help="Refuse to train where the estimate is above this, as in 8GB; batches are cut into pieces first.",
)
@engines.options(
    "Where classifiers of linear and gnnxml, random walks and members of an ensemble are trained"
)
@click.option(
    "--resume", is_flag=True, help="Resume a training of this model that was stopped (MODEL.checkpoints)."
)
@verbosity
def command(
    data: str | None,
    model: str,
    system: str | None,
    budget: str | None,
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
    max_memory: str | None,
    engine: str,
    address: str | None,
    resume: bool,
    **columns: Any,
) -> None:
    """Train a model on DATA, a folder with train (and valid), one file or prepared data, and write it to a folder.

    The system auto is an ensemble of all systems that suit the data, this machine and the budget.
    """
    from longtail import systems, threads
    from longtail.cli.prepared_data import read_prepared
    from longtail.prepared.folder import is_prepared
    from longtail.systems.estimate import memory_limit
    from longtail.systems.validation_part import with_validation_part
    from longtail.training import checkpoint

    if data is None and vocabulary is None:
        raise UsageError("there is nothing to train on: name DATA, or a file of labels with --labels")
    engines.check(engine, address)
    launch, session = Launch.here(), current()
    if engine != "local" and launch.size > 1:
        raise UsageError("--engine ray is for one process: leave it out with torchrun")
    name, settings = gather_settings(system, config, assignments, fields, seed)
    if name == AUTO and launch.size > 1:
        raise UsageError(
            "processes that train together must not choose for themselves: name the system with --system"
        )
    prepared = data is not None and is_prepared(data)
    if prepared and name == AUTO:
        raise UsageError(f"{data} was prepared for a system: name it with --system")
    seconds = check_settings(name, settings, budget)
    limit = None if max_memory is None else memory_limit(max_memory)
    kept: Path | None = None
    resume = resume or launch.restarts > 0
    if launch.first:
        inputs = [path for path in (data, vocabulary) if path is not None]
        output.check_folder_is_free(model, force=force, inputs=inputs)
        kept = checkpoint.beside(model)
        if not resume and not force:
            checkpoint.refuse_existing(kept)
    else:
        session.quiet = True
    run = session.run()
    run.checkpoints, run.resume = kept, resume
    if jobs is None and launch.size > 1:
        jobs = max(1, threads.available() // launch.local_size)
    with threads.limit(jobs):
        reading = options.read_options(columns)
        if prepared:
            untrained, reason = systems.create(name, settings), None
            with run.phase("read"):
                sets, kept_reading = read_prepared(
                    str(data), untrained, vocabulary, format_, reading, limit, hold_out=not no_hold_out
                )
        else:
            with run.phase("read"):
                sets, kept_reading = read_sets(data, vocabulary, format_, reading, session)
            untrained, reason = create(name, settings, sets, seconds)
            if reason is not None:
                run.say(reason)
            untrained = say_estimate(untrained, sets["train"], limit, session)
        with (
            checkpoints_of(run, session, untrained.name),
            engines.using(engine, address, None, "train --engine ray"),
        ):
            start = time.perf_counter()
            train, valid = with_validation_part(
                untrained, sets["train"], sets.get("valid"), run, wanted=not no_hold_out
            )
            trained = untrained.fit(train, valid=valid, run=run, hold_out=not no_hold_out)
            # Phases may be parts of others, so their seconds do not add up to this.
            training = time.perf_counter() - start
            if not launch.first:
                return
            trained.facts_ = replace(trained.facts_, reading=kept_reading)
            with run.phase("save"):
                trained.save(model, force=force)
    session.written = True
    summary = summarise(trained, model, run.seconds, training, reason)
    summary["validation_documents"] = 0 if valid is None else len(valid)
    if as_json:
        output.print_json(summary)
    elif not session.quiet:
        _print(summary)


def check_settings(name: str, settings: Mapping[str, Any], budget: str | None) -> float | None:
    """Raise now, before data are read, what is wrong with the settings; the budget in seconds."""
    from longtail import systems

    if name != AUTO:
        if budget is not None:
            raise UsageError(
                f"--budget is for --system auto, which chooses by it: '{name}' is chosen already"
            )
        systems.create(name, settings)
        return None
    from longtail.systems import auto, auto_settings

    auto_settings.check(settings)
    return None if budget is None else auto.budget_seconds(budget)


def create(
    name: str, settings: Mapping[str, Any], sets: Mapping[str, Dataset], budget_seconds: float | None
) -> tuple[System, str | None]:
    """The untrained system; if it is chosen here, also the reason of the choice in two sentences."""
    from longtail import systems

    if name != AUTO:
        return systems.create(name, settings), None
    from longtail.systems.auto_settings import create_auto

    valid = sets.get("valid")
    system, choice = create_auto(settings, sets["train"], valid=valid, budget_seconds=budget_seconds)
    return system, choice.reason


def say_estimate(system: System, train: Dataset, limit: int | None, session: Session) -> System:
    """Say what the training will take; with a limit, the system with settings that fit it, or an error."""
    from longtail.systems.estimate import estimate, fitted, in_gigabytes, sentence
    from longtail.systems.memory import FORMULAS

    if limit is None:
        known = system.name == "ensemble" or system.name in FORMULAS
        if known and not session.quiet:
            session.say(sentence(estimate(system, train)))
        return system
    system, found, pieces = fitted(system, train, limit)
    session.say(sentence(found))
    if pieces > 1:
        session.say(f"to stay below {in_gigabytes(limit)}, a batch is worked on in {pieces} pieces")
    return system


def read_sets(
    data: str | None, vocabulary: str | None, format_: str | None, reading: ReadOptions, session: Session
) -> tuple[dict[str, Dataset], dict[str, Any]]:
    """The parts train and valid, with the labels of a file of labels; that file alone gives no documents.

    Also what the model keeps of how they were read.
    """
    from longtail.cli import understanding
    from longtail.cli.label_vocabulary import with_vocabulary
    from longtail.data import overlap, read_labels, read_vocabulary
    from longtail.data.misspelled import label_doubts
    from longtail.data.reading import read_parts
    from longtail.label_cells import NONE
    from longtail.types import Dataset

    if data is None:
        assert vocabulary is not None
        return {"train": Dataset.from_labels(read_labels(vocabulary, options=reading))}, {}
    labels = None if vocabulary is None else read_vocabulary(vocabulary, options=reading)
    with source.readable(data) as place:
        # The test part is not read at all.
        found = read_parts(place, format=format_, options=reading, parts=("train", "valid"))
    sets = {name: one.data for name, one in found.parts.items()}
    understood = found.parts["train"].understood
    understanding.say(session, understood, data, vocabulary)
    if labels is None:
        understanding.check_labels(sets["train"], understood, data, "train on")
    kept = {} if understood is None else understood.remembered()
    if reading.label_separator is None and kept.get("separator") == NONE:
        # No string of the training data has several labels: others may.
        kept["separator"] = None
    kept |= overlap.remembered(sets["train"].documents)
    for doubt in label_doubts(found.labels.ids):
        session.say(f"warning: {doubt}")
    if labels is None:
        return sets, kept
    if not any(label in labels.index for label in sets["train"].labels.ids):
        session.say(f"warning: no label of {data} is in {vocabulary}")
    return {part: with_vocabulary(one, labels) for part, one in sets.items()}, kept


@contextmanager
def checkpoints_of(run: Run, session: Session, system: str) -> Iterator[None]:
    """Train and save the model inside: its checkpoints are locked meanwhile, and removed when it is saved."""
    from longtail.storage.lock import only_writer
    from longtail.training import checkpoint

    kept = run.checkpoints
    if kept is None:
        # Another process of the training has them.
        yield
        return
    # A parent folder that is missing appears with the first output: until then there is nothing to guard.
    with only_writer(kept.absolute()) if kept.parent.is_dir() else nullcontext():
        if not run.resume and checkpoint.exists(kept):
            checkpoint.remove(kept)
        try:
            yield
        except BaseException:
            if run.in_stages and checkpoint.exists(kept):
                session.written = True
                session.say(f"the training so far is kept in {kept}: add --resume to continue it")
            raise
        if run.in_stages:
            checkpoint.remove(kept)
    if run.resume and not run.in_stages:
        run.say(
            f"the system '{system}' has no training stages: --resume has no effect, training started from the "
            "beginning"
        )


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
    named = settings.pop("system", AUTO)
    if not isinstance(named, str):
        raise ConfigError(f"{config}: 'system' must be a system's name, not {named!r}")
    settings = merge(settings, parse_overrides(assignments))
    if fields is not None:
        settings["fields"] = [field.strip() for field in fields.split(",")]
    if seed is not None:
        settings["seed"] = seed
    return system or named, settings


def summarise(
    system: System, path: str, seconds: dict[str, float], training: float, reason: str | None = None
) -> dict[str, Any]:
    """The trained model as plain data; ``training`` is the seconds of it in all."""
    counts = system.label_counts_
    return {
        "model": path,
        "system": system.name,
        "reason": reason,
        "documents": system.facts_.documents,
        "labels": len(counts),
        "warm_labels": int((counts > 0).sum()),
        "bytes": output.bytes_below(Path(path)),
        "seconds": {phase: round(taken, 3) for phase, taken in seconds.items()},
        "ms_per_document": round(1e3 * training / max(system.facts_.documents, 1), 4),
        "metrics": dict(system.facts_.metrics),
    }


def _print(summary: dict[str, Any]) -> None:
    from longtail.cli.info import print_metrics
    from longtail.progress import duration

    click.echo(
        f"{summary['model']}: '{summary['system']}' trained on {summary['documents']:,} documents; "
        f"{summary['labels']:,} labels, {summary['warm_labels']:,} of them with training documents"
    )
    rows = [[phase, duration(taken)] for phase, taken in summary["seconds"].items()]
    if summary["documents"]:
        rows.append(["per document", f"{summary['ms_per_document']:.3g} ms"])
    rows.append(["model size", output.size_in_words(summary["bytes"])])
    output.print_table(rows, indent="  ")
    print_metrics(summary["metrics"])
