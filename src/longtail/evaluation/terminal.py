"""The report as tables in a terminal; plain text when the output is not one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from longtail.evaluation.report import Report
from longtail.evaluation.wording import (
    RARE_NOTE,
    calibration_sentence,
    chosen_sentence,
    cost_sentence,
    counts_sentence,
    families,
    other_sentence,
)

if TYPE_CHECKING:
    from rich.console import Console


def render(report: Report, console: Console) -> None:
    """Print the headline metrics with their intervals, and the metrics by label frequency."""

    def say(text: str) -> None:
        console.print(text, highlight=False, markup=False, soft_wrap=True)

    style = box.SIMPLE_HEAD if console.is_terminal else None
    say(counts_sentence(report.counts))
    say("")
    console.print(_headline(report, style))
    for sentence in (other_sentence(report), chosen_sentence(report), calibration_sentence(report)):
        if sentence:
            say(sentence)
    say("")
    console.print(_bins(report, report.bins, "By training documents per label", style))
    say("")
    console.print(_bins(report, report.equal_bins, "By five bins of about equal training volume", style))
    say(RARE_NOTE.format(k=report.bins_k))
    if cost := cost_sentence(report):
        say(cost)


def _headline(report: Report, style: box.Box | None) -> Table:
    table = Table(box=style, title="Metrics x100, with 95 % intervals below", title_justify="left")
    rows, ranks = families(report)
    table.add_column("")
    for rank in ranks:
        table.add_column(f"@{rank}", justify="right", no_wrap=True)
    for name, found in rows.items():
        cells = [found.get(rank) for rank in ranks]
        table.add_row(name, *("" if c is None else f"[bold]{c['value']:.2f}[/bold]" for c in cells))
        table.add_row("", *("" if c is None else f"[dim]{c['low']:.1f}–{c['high']:.1f}[/dim]" for c in cells))
    return table


def _bins(report: Report, rows: list[dict[str, Any]], title: str, style: box.Box | None) -> Table:
    table = Table(box=style, title=title, title_justify="left")
    k = report.bins_k
    table.add_column("training documents", no_wrap=True)
    for heading in ("labels", "assignments", "hits", f"R@{k}", f"P@{k} part", f"PSP@{k} part"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            Text(row["name"]),
            *(f"{row[key]:,}" for key in ("labels", "assignments", "hits")),
            *(f"{row[key]:.2f}" for key in ("R", "P", "PSP")),
        )
    return table
