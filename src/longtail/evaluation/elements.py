"""Pieces of HTML that the sections of the page share; every text is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from longtail.evaluation import svg


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column names the rows."""
    headings = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>' + "".join(f"<td>{escape(c)}</td>" for c in rest) + "</tr>"
        for first, *rest in rows
    )
    return f"<table><thead><tr>{headings}</tr></thead><tbody>{body}</tbody></table>"


def details(summary: str, content: str) -> str:
    """Content (HTML already) that opens with a click on its summary."""
    return f'<details><summary>{escape(summary)}</summary><div class="scroll">{content}</div></details>'


def legend(names: Iterable[str]) -> str:
    """The colours of the series of a chart, in their order."""
    items = "".join(
        f'<li><span class="key {svg.series_class(i)}"></span>{escape(name)}</li>'
        for i, name in enumerate(names)
    )
    return f'<ul class="legend">{items}</ul>'
