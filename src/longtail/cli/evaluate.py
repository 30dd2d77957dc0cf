"""``longtail evaluate``: predict a test set and report metrics, also by label frequency."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from longtail.cli import label_choice, options, output, parts, source, understanding
from longtail.cli import members as member_choice
from longtail.cli.session import current, verbosity
from longtail.errors import UsageError


def _ranks(context: click.Context, parameter: click.Parameter, value: str) -> tuple[int, ...]:
    try:
        ranks = sorted({int(rank) for rank in value.split(",")})
    except ValueError:
        ranks = [0]
    if ranks[0] < 1:
        raise click.BadParameter(f"{value!r} is not a list of ranks like 1,3,5", context, parameter)
    return tuple(ranks)


@click.command()
@click.argument("model", type=click.Path())
@click.argument("data", type=click.Path())
@click.option("--part", default="test", show_default=True, help="The part of DATA to evaluate on.")
@click.option(
    "-k", "ranks", default="1,3,5", show_default=True, callback=_ranks, help="Ranks of the metrics."
)
@click.option(
    "--json", "json_", metavar="FILE", type=click.Path(), help="Write the report as JSON (- is stdout)."
)
@click.option(
    "--html", metavar="FILE", type=click.Path(), help="Write the report as an HTML page with plots."
)
@click.option(
    "--against",
    metavar="FILE",
    type=click.Path(),
    help="Compare with another model in the page: its report on the same DATA, written with --json.",
)
@label_choice.options
@member_choice.options
@options.format_of("DATA")
@options.label_file
@options.reading
@options.jobs
@options.force
@verbosity
def command(
    model: str,
    data: str,
    part: str,
    ranks: tuple[int, ...],
    json_: str | None,
    html: str | None,
    against: str | None,
    latency: float | None,
    members: str | None,
    format_: str | None,
    labels: str | None,
    jobs: int | None,
    force: bool,
    **columns: Any,
) -> None:
    """Evaluate MODEL on the test part of DATA (a single file is used whole).

    --threshold, --precision and --max-f1 choose among the labels up to the largest rank of -k: precision, recall
    and F1 are those of the chosen labels.
    """
    import longtail
    from longtail import threads
    from longtail.config import to_dict
    from longtail.data.reading import read_parts
    from longtail.data.understood import as_trained
    from longtail.evaluation import html as page
    from longtail.evaluation import terminal
    from longtail.evaluation.comparison import compare, read_report

    member_choice.check(latency, members)
    choice = label_choice.chosen(columns)
    if json_ is not None and html is not None and output.same(json_, html):
        raise UsageError(f"--json and --html both write to {html}: name two files")
    if against is not None and html is None:
        raise UsageError("--against is shown in the page: name one with --html FILE")
    inputs = [model, data] if against is None else [model, data, against]
    for path in (json_, html):
        output.check_file_is_free(path, force=force, inputs=inputs)
    other = None if against is None else read_report(against)
    session = current()
    run = session.run()
    with threads.limit(jobs):
        with run.phase("load"):
            system = longtail.load(model)
        with run.phase("read"), source.readable(data) as place:
            wanted = (part,) if Path(place).is_dir() else ("train",)
            reading = as_trained(options.read_options(columns, labels=labels), system.facts_.reading)
            found = read_parts(place, format=format_, options=reading, parts=wanted)
        sets = {name: one.data for name, one in found.parts.items()}
        test = parts.choose(sets, part, data)
        understood = next(one.understood for one in found.parts.values() if one.data is test)
        understanding.say(session, understood, data)
        understanding.check_labels(test, understood, data, "evaluate on")
        system = member_choice.chosen(system, test.documents, latency, members, session)
        label_choice.check(system, choice, session)
        with run.phase("evaluate"), session.library_warnings():
            report = system.evaluate(test, k=ranks, **choice)
            report = replace(report, insights=system.insights())
    report.meta.update(system=system.name, config=to_dict(system.config), model=model, data=data)
    if isinstance(used := getattr(system, "members_", None), list) and (latency or members):
        report.meta["members"] = [member.name for member in used]
    report.meta["model_bytes"] = output.bytes_below(Path(model))
    report.meta["seconds"] |= {phase: round(taken, 3) for phase, taken in run.seconds.items()}
    comparison = None if against is None or other is None else compare(report, other, against)
    if json_ is not None:
        _write(json_, output.as_json(report.to_dict()), force)
    if html is not None:
        title = f"{Path(model).name} on {Path(data).name}"
        _write(html, page.render_html(report, title, against=comparison).encode("utf-8"), force)
    if output.STANDARD not in (json_, html):
        terminal.render(report, output.console())


def _write(path: str, content: bytes, force: bool) -> None:
    with output.opened(path, force=force) as handle:
        handle.write(content)
