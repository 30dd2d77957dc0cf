"""The report as one HTML file: styles and plots inside, no script, nothing fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any

from longtail.evaluation import elements, svg
from longtail.evaluation.comparison import Comparison
from longtail.evaluation.grouped_sections import insight_section, precision_section
from longtail.evaluation.report import Report
from longtail.evaluation.wording import (
    RARE_NOTE,
    calibration_sentence,
    chosen_sentence,
    counts_sentence,
    families,
    other_sentence,
)


def render_html(report: Report, title: str = "Evaluation", *, against: Comparison | None = None) -> str:
    """The whole page as text; ``against`` puts another model beside this one, bin by bin."""
    css = resources.files("longtail.evaluation").joinpath("report.css").read_text(encoding="utf-8")
    body = "\n".join(
        [
            f"<h1>{escape(title)}</h1>",
            f'<p class="note">{escape(counts_sentence(report.counts))}</p>',
            _tiles(report),
            _metrics(report),
            _bins(
                report,
                report.bins,
                "By label frequency",
                "Labels by their number of training documents, the rarest first.",
            ),
            _bins(
                report,
                report.equal_bins,
                "By bins of equal volume",
                "Five bins with about the same number of training assignments, named by the frequency of their "
                "labels.",
            ),
            precision_section(report, against),
            f'<div class="two">{_calibration(report)}{_frequency(report)}</div>',
            *(insight_section(insight) for insight in report.insights),
            _meta(report),
        ]
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{css}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _tiles(report: Report) -> str:
    metrics = report.headline()
    # nDCG@1 is P@1, and between them it says little that P does not: the widest will do.
    widest = [name for name in metrics if name.startswith("nDCG@")][-1:]
    precision = [name for name in metrics if name.startswith("P@")]
    rest = [name for name in metrics if not name.startswith(("P@", "nDCG@"))]
    tiles = "".join(
        f'<div class="tile"><dt>{escape(name)}</dt><dd class="big">{metric["value"]:.2f}</dd>'
        f'<dd class="range">{metric["low"]:.2f} to {metric["high"]:.2f}</dd></div>'
        for name, metric in ((name, metrics[name]) for name in (*precision, *widest, *rest))
    )
    return f'<dl class="tiles">{tiles}</dl>'


def _metrics(report: Report) -> str:
    rows, ranks = families(report)
    head = "".join(f'<th scope="col">@{rank}</th>' for rank in ranks)
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(
            f"<td>{found[rank]['value']:.2f}<small>{found[rank]['low']:.1f}–{found[rank]['high']:.1f}</small></td>"
            if rank in found
            else "<td></td>"
            for rank in ranks
        )
        + "</tr>"
        for name, found in rows.items()
    )
    return (
        "<section><h2>All metrics</h2>"
        '<p class="note">Multiplied by 100, with the 95 % interval of a bootstrap over documents below.</p>'
        '<div class="scroll" tabindex="0" role="region" aria-label="All metrics">'
        f"<table><thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        f'<p class="note">{escape(other_sentence(report))} {escape(chosen_sentence(report))}</p></section>'
    )


def _bins(report: Report, rows: Sequence[Mapping[str, Any]], title: str, note: str) -> str:
    k = report.bins_k
    charts = ""
    for key, heading, top, kind in (
        ("R", f"Recall@{k} of the bin", 100.0, "recall"),
        ("P", f"Part of P@{k}", None, "precision"),
        ("PSP", f"Part of PSP@{k}", None, "psp"),
    ):
        drawn = [
            (
                row["name"],
                row[key],
                f"{row['name']}: {row[key]:.2f}; {row['hits']:,} hits of {row['assignments']:,} assignments",
            )
            for row in rows
        ]
        whole = sum(row[key] for row in rows)
        added = "" if key == "R" else f" (sums to {whole:.2f})"
        full = top if top is not None else max((row[key] for row in rows), default=0.0)
        chart = svg.bars(f"{heading}: {title}", drawn, top=full, kind=kind)
        charts += f"<div><h3>{escape(heading)}{added}</h3>{chart}</div>"
    table = elements.table(
        ["Training documents", "Labels", "Assignments", "Hits", f"R@{k}", f"P@{k} part", f"PSP@{k} part"],
        (
            [
                row["name"],
                *(f"{row[key]:,}" for key in ("labels", "assignments", "hits")),
                *(f"{row[key]:.2f}" for key in ("R", "P", "PSP")),
            ]
            for row in rows
        ),
    )
    return (
        f'<section><h2>{escape(title)}</h2><p class="note">{escape(note)} {escape(RARE_NOTE.format(k=k))}</p>'
        f'<div class="three">{charts}</div>{elements.details("As a table", table)}</section>'
    )


def _calibration(report: Report) -> str:
    if report.calibration is None:
        return ""
    k, points = report.calibration["k"], report.calibration["points"]
    before = report.calibration.get("before") or {"points": []}
    series = {"": points, "before ": before["points"]}
    table = elements.table(
        ["Scores", "Predictions", "Mean score", "Right"],
        (
            [
                f"{name}{p['low']:.1f}–{p['high']:.1f}",
                f"{p['count']:,}",
                f"{p['score']:.3f}",
                f"{p['accuracy']:.3f}",
            ]
            for name, some in series.items()
            for p in some
        ),
    )
    by_bin = elements.table(
        ["Training documents", "Predictions", "Expected calibration error"],
        (
            [row["name"], f"{row['count']:,}", f"{row['ece']:.2f}"]
            for row in report.calibration.get("bins", [])
        ),
    )
    grey = ", and those before calibration in grey" if before["points"] else ""
    return (
        "<section><h2>Calibration</h2>"
        f'<p class="note">The share of the first {k} predictions that is right, by score{grey}; calibrated scores '
        f"lie on the dashed line. {escape(calibration_sentence(report))}</p>"
        + svg.reliability(
            "Share of predictions that is right, by score",
            [svg.reliability_point(p) for p in points],
            "score",
            "share that is right",
            before=[svg.reliability_point(p) for p in before["points"]],
        )
        + elements.details("As a table", table)
        + elements.details("By label frequency", by_bin)
        + "</section>"
    )


def _frequency(report: Report) -> str:
    if not report.frequency_curve:
        return ""
    few = sum(row["labels"] for row in report.bins[:2])
    share = 100 * few / max(report.counts["labels"], 1)
    table = elements.table(
        ["Rank", "Training documents"], ([f"{rank:,}", f"{n:,}"] for rank, n in report.frequency_curve)
    )
    return (
        "<section><h2>Label frequencies</h2>"
        f'<p class="note">Training documents of each label, the most frequent first. {few:,} labels '
        f"({share:.0f} %) have five training documents or fewer.</p>"
        + svg.log_line(
            "Training documents by rank of the label",
            report.frequency_curve,
            "rank of the label",
            "training documents",
        )
        + elements.details("As a table", table)
        + "</section>"
    )


def _meta(report: Report) -> str:
    facts = [*_flat(report.counts), *_flat(report.meta)]
    rows = "".join(
        f'<tr><th scope="row">{escape(key)}</th><td>{escape(str(value))}</td></tr>' for key, value in facts
    )
    table = f'<table class="facts"><tbody>{rows}</tbody></table>'
    opened = elements.details("Counts, settings, versions, time and memory", table)
    return f"<section><h2>Run details</h2>{opened}</section>"


def _flat(facts: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    flat: list[tuple[str, Any]] = []
    for key, value in facts.items():
        name = f"{prefix}{key}".replace("_", " ")
        flat += _flat(value, f"{name} / ") if isinstance(value, Mapping) else [(name, value)]
    return flat
