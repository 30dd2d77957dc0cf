"""``longtail tune``: search settings on validation documents, and write the best ones for ``longtail train``."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longtail.cli import engines, options, output
from longtail.cli.session import current, verbosity
from longtail.cli.train import AUTO, check_settings, gather_settings, read_sets
from longtail.errors import UsageError

if TYPE_CHECKING:
    from longtail.tuning.search import Found
    from longtail.tuning.trial import Task

SHARE = 10
"""The choice of auto may take this part of the budget for one training, so that there is time for some trials."""


@click.command()
@click.argument("data", type=click.Path())
@click.option("-o", "--output", "target", required=True, type=click.Path(), help="The TOML file to write.")
@click.option("--budget", metavar="TIME", help="Time of the search: 90s, 30m, 2h.")
@click.option("--trials", type=click.IntRange(min=1), help="How many settings to try at most.")
@click.option("--system", metavar="NAME", help="The system whose settings are searched.  [default: auto]")
@click.option("--metric", default="overall", show_default=True, metavar="NAME", help="What is to be highest.")
@click.option(
    "--search",
    "expressions",
    multiple=True,
    metavar="KEY=RANGE",
    help="A setting to search, instead of the usual ones: beam=5..50 or tree.trees=1,2,4; may be repeated.",
)
@options.fields
@click.option("--config", type=click.Path(), help="A TOML file of settings that stay as they are.")
@click.option(
    "--set", "assignments", multiple=True, metavar="KEY=VALUE", help="One setting that stays as it is."
)
@click.option("--study", type=click.Path(), help="The file of the trials.  [default: OUTPUT.study]")
@options.format_of("DATA")
@options.reading
@options.seed
@options.jobs
@options.as_json
@options.force
@click.option(
    "--at-once",
    default=1,
    show_default=True,
    type=click.IntRange(min=1),
    help="Trials that are proposed together: as many are trained side by side with --engine ray.",
)
@engines.options("Where trials are trained")
@click.option("--resume", is_flag=True, help="Continue the search in the file of the trials.")
@verbosity
def command(
    data: str,
    target: str,
    budget: str | None,
    trials: int | None,
    system: str | None,
    metric: str,
    expressions: tuple[str, ...],
    fields: str | None,
    config: str | None,
    assignments: tuple[str, ...],
    study: str | None,
    format_: str | None,
    seed: int | None,
    jobs: int | None,
    as_json: bool,
    force: bool,
    at_once: int,
    engine: str,
    address: str | None,
    resume: bool,
    **columns: Any,
) -> None:
    """Search settings of a system or an ensemble on the validation documents of DATA.

    Writes a TOML file for longtail train --config. The trials are kept in a file: a search that was stopped can
    be resumed.
    """
    from longtail import threads
    from longtail.data.misspelled import misplaced_texts
    from longtail.systems.auto import budget_seconds
    from longtail.tuning import search, space

    engines.check(engine, address)
    if budget is None and trials is None:
        raise UsageError(
            "how long may the search take? Give it a --budget, as in 1h, or a number of --trials"
        )
    seconds = None if budget is None else budget_seconds(budget)
    name, settings = gather_settings(system, config, assignments, fields, seed)
    check_settings(name, settings, None)
    wanted = space.parsed(expressions)
    kept = Path(study or f"{target}.study")
    output.check_file_is_free(target, force=force or resume, inputs=[data])
    session = current()
    with threads.limit(jobs):
        with session.run().phase("read"):
            sets, _ = read_sets(data, None, format_, options.read_options(columns), session)
            # Trials have some of the documents only: what is doubtful is said here, once.
            if (doubt := misplaced_texts(*sets.values())) is not None:
                session.say(f"warning: {doubt}")
        task = _task(name, settings, sets, metric, seconds, session)
        searched = wanted or space.space_of(task.system, task.settings.get("members", ()))
        search.own_values(task, searched)  # An unknown setting is an error now.
        if force and not resume:
            with suppress(FileNotFoundError):
                kept.unlink()
        opened = search.open_study(kept, task, searched, resume=resume and kept.exists())
        session.written = True
        session.say(
            f"searching {len(searched)} settings of '{task.system}'; {len(task.train):,} training documents, "
            f"{len(task.measured):,} to measure on; trials are kept in {kept}"
        )
        try:
            with engines.using(engine, address, jobs, "tune --engine ray"):
                found = search.search(
                    opened,
                    task,
                    searched,
                    seconds=seconds,
                    trials=trials,
                    say=session.say,
                    at_once=at_once,
                )
        except BaseException:
            session.say(f"the trials so far are kept in {kept}: add --resume to continue")
            raise
    _write(target, task, found)
    result = {"config": target, "study": str(kept), "system": task.system, "metric": metric, **asdict(found)}
    if as_json:
        output.print_json(result)
    elif not session.quiet:
        _print(target, data, metric, found)


def _task(
    name: str,
    settings: dict[str, Any],
    sets: dict[str, Any],
    metric: str,
    seconds: float | None,
    session: Any,
) -> Task:
    """The system with the settings that stay, and the documents."""
    from longtail.tuning.trial import Task

    if name == AUTO:
        from longtail.systems.auto_settings import create_auto, laid_over

        share = None if seconds is None else seconds / SHARE
        _, choice = create_auto(settings, sets["train"], valid=sets.get("valid"), budget_seconds=share)
        session.say(choice.reason)
        name, settings = choice.system, laid_over(choice, settings)
    elif name == "ensemble" and isinstance(settings.get("members"), str):
        settings["members"] = [member.strip() for member in settings["members"].split(",")]
    elif name == "ensemble" and "members" not in settings:
        from longtail.systems.ensemble.config import EnsembleConfig

        settings["members"] = list(EnsembleConfig().members)
    seed = settings.get("seed", 0)
    return Task.of(name, settings, sets["train"], sets.get("valid"), metric=metric, seed=seed)


def _write(target: str, task: Task, found: Found) -> None:
    from longtail.storage import atomic_file
    from longtail.tuning.toml import as_toml

    comments = [
        f"{task.metric} on validation documents: {found.best.value:.2f}, defaults: {found.defaults.value:.2f}",
        f"Best of {found.trials} trials."
        if found.changes
        else f"None of {found.trials} trials is better than the defaults.",
    ]
    with atomic_file(target, force=True) as file:
        file.write(as_toml(task.system, task.with_changes(found.changes), comments).encode())


def _print(target: str, data: str, metric: str, found: Found) -> None:
    ended = f"{found.trials} trials, {found.pruned} of them ended early, {found.failed} failed"
    click.echo(ended)
    rows = [["", metric, "95 % interval", "seconds"]]
    for name, measured in {"defaults": found.defaults, "best": found.best}.items():
        interval = f"{measured.low:.2f} to {measured.high:.2f}"
        rows.append([name, f"{measured.value:.2f}", interval, f"{measured.seconds:.0f}"])
    output.print_table(rows, indent="  ")
    if found.changes:
        click.echo("Changed settings")
        output.print_table([[key, output.shown(value)] for key, value in found.changes.items()], indent="  ")
        if found.best.low <= found.defaults.value:
            click.echo("The gain is within the interval: it may be chance. Measure it on test documents.")
    else:
        click.echo("No trial is better than the defaults.")
    click.echo(f"Train with them: longtail train {data} -o MODEL --config {target}")
