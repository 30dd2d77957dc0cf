"""Sections of the page with grouped bars: precision by label frequency, and diagnostics of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from longtail.evaluation import elements, svg
from longtail.evaluation.comparison import Comparison, model_name
from longtail.evaluation.insight import Insight
from longtail.evaluation.report import Report


def precision_section(report: Report, against: Comparison | None = None) -> str:
    """P@k divided among bins of equal volume (GalaXC Fig. 5), another model's beside it; '' without parts."""
    names = [row["name"] for row in report.equal_bins]
    own = f"This model: {model_name(report)}"
    other = "" if against is None else f"Against: {against.name}"
    charts, head, columns = "", ["Training documents"], [names]
    for metric, parts in report.precision_parts.items():
        series = {own: parts}
        if against is not None:
            if metric not in against.precision_parts:
                continue
            series[other] = against.precision_parts[metric]
        sums = [sum(values) for values in series.values()]
        heading = f"{metric}: {sums[0]:.2f}"
        head.append(metric)
        columns.append([f"{value:.2f}" for value in parts])
        if against is not None:
            heading += f" against {sums[1]:.2f} ({sums[0] - sums[1]:+.2f})"
            head += [f"{metric} of the other", "Gain"]
            columns.append([f"{value:.2f}" for value in series[other]])
            columns.append([f"{a - b:+.2f}" for a, b in zip(*series.values(), strict=True)])
        chart = svg.grouped_bars(f"Contribution to {metric} by bin of equal volume", names, series)
        charts += f"<div><h3>{escape(heading)}</h3>{chart}</div>"
    if not charts:
        return ""
    note = (
        "The contribution of each of the five bins of equal volume to precision, the rarest labels first. "
        "The contributions add up to P@k."
    )
    table = elements.details("As a table", elements.table(head, zip(*columns, strict=True)))
    key = "" if against is None else elements.legend([own, other])
    return (
        f'<section><h2>Precision by label frequency</h2><p class="note">{note}</p>{key}'
        f'<div class="three">{charts}</div>{table}</section>'
    )


def insight_section(insight: Insight) -> str:
    """One insight as grouped bars with a legend."""
    heading = f'<h2>{escape(insight.title)}</h2><p class="note">{escape(insight.caption)}</p>'
    if not insight.x or not insight.series:
        return f"<section>{heading}</section>"
    form = _form(insight.series)
    rows = (
        [group, *(format(values[i], form) for values in insight.series.values())]
        for i, group in enumerate(insight.x)
    )
    return (
        f"<section>{heading}{elements.legend(insight.series)}"
        + svg.grouped_bars(insight.title, insight.x, insight.series, form=form)
        + elements.details("As a table", elements.table(["", *insight.series], rows))
        + "</section>"
    )


def _form(series: Mapping[str, Sequence[float]]) -> str:
    """How to write values, so that the largest has three digits that say something and fits beside its bar."""
    largest = max(abs(value) for values in series.values() for value in values)
    if largest == 0 or 1 <= largest < 10_000:
        return ".2f"
    return ".3f" if 0.01 <= largest < 1 else ".3g"
