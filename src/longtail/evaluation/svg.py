"""Small charts as SVG text: horizontal bars (alone or in groups), a line on logarithmic axes, a reliability curve.

Colours are CSS classes of the page, so that light and dark follow the reader's system.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any

WIDTH = 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 54, 14, 12, 42
_HEIGHT = 270
_COLOURS = 6
_LONGEST_NAME = 14


def bars(title: str, rows: Sequence[tuple[str, float, str]], *, top: float, kind: str) -> str:
    """One horizontal bar per row.

    Args:
        title: what the chart shows, for those who cannot see it.
        rows: name, value and a sentence shown on hovering.
        top: the value of a full bar.
        kind: the CSS class that colours the bars.
    """
    step, start, end = 30, 102, WIDTH - 58
    parts = []
    for i, (name, value, hint) in enumerate(rows):
        y = i * step
        length = max((end - start) * min(value / top, 1) if top > 0 else 0, 0)
        parts.append(
            f"<g><title>{escape(hint)}</title>"
            f'<text x="{start - 10}" y="{y + 20}" text-anchor="end" class="name">{escape(name)}</text>'
            f'<rect x="{start}" y="{y + 6}" width="{end - start}" height="18" rx="3" class="track"/>'
            f'<rect x="{start}" y="{y + 6}" width="{length:.1f}" height="18" rx="3" class="{escape(kind)}"/>'
            f'<text x="{WIDTH - 2}" y="{y + 20}" text-anchor="end" class="value">{value:.2f}</text></g>'
        )
    return _svg(title, len(rows) * step, "".join(parts))


def grouped_bars(
    title: str, groups: Sequence[str], series: Mapping[str, Sequence[float]], *, form: str = ".2f"
) -> str:
    """A group of horizontal bars for each name of ``groups``, one bar per series; bars below 0 go to the left.

    Args:
        title: what the chart shows, for those who cannot see it.
        groups: names, cut where they are long; hovering shows them whole.
        series: name -> one finite value per group.
        form: how values are written, as for ``format``.
    """
    thick = 18 if len(series) < 2 else 13
    pitch, space, start, end = thick + 2, 12, 102, WIDTH - 58
    every = [value for values in series.values() for value in values]
    low, high = min(every, default=0.0), max(every, default=0.0)
    low, high = min(low, 0.0), max(high, 0.0)
    # Divided before anything is multiplied: the smallest numbers there are would overflow otherwise.
    span = high - low or 1.0
    zero = start - low / span * (end - start)
    parts = []
    for g, group in enumerate(groups):
        top = g * (len(series) * pitch + space) + space / 2
        middle = top + len(series) * pitch / 2 + 3
        parts.append(
            f'<text x="{start - 10}" y="{middle:.1f}" text-anchor="end" class="name">{escape(_cut(group))}</text>'
        )
        for s, (name, values) in enumerate(series.items()):
            value, y = values[g], top + s * pitch
            length = abs(value) / span * (end - start)
            text = format(value, form)
            parts.append(
                f"<g><title>{escape(f'{group}, {name}: {text}')}</title>"
                f'<rect x="{start}" y="{y:.1f}" width="{end - start}" height="{thick}" rx="3" class="track"/>'
                f'<rect x="{zero - length if value < 0 else zero:.1f}" y="{y:.1f}" width="{length:.1f}" '
                f'height="{thick}" rx="3" class="{series_class(s)}"/>'
                f'<text x="{WIDTH - 2}" y="{y + thick / 2 + 4:.1f}" text-anchor="end" class="value">'
                f"{escape(text)}</text></g>"
            )
    return _svg(title, len(groups) * (len(series) * pitch + space), "".join(parts))


def series_class(position: int) -> str:
    """The CSS class that colours a series; colours come again when there are many series."""
    return f"series-{position % _COLOURS}"


def log_line(title: str, points: Sequence[Sequence[float]], x_name: str, y_name: str) -> str:
    """A falling line with both axes logarithmic; every value must be at least 1."""
    x_top = max((p[0] for p in points), default=10)
    y_top = max((p[1] for p in points), default=10)
    x_top, y_top = max(x_top, 10), max(y_top, 10)
    across = [_across(math.log10(x) / math.log10(x_top)) for x, _ in points]
    up = [_up(math.log10(y) / math.log10(y_top)) for _, y in points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, up, strict=True))
    grid = _grid(
        [(math.log10(v) / math.log10(x_top), _short(v)) for v in _powers(x_top)],
        [(math.log10(v) / math.log10(y_top), _short(v)) for v in _powers(y_top)],
    )
    floor = _up(0)
    area = f"{across[0]:.1f},{floor} {path} {across[-1]:.1f},{floor}" if points else ""
    drawn = f'<polygon points="{area}" class="area"/><polyline points="{path}" class="line"/>'
    return _svg(title, _HEIGHT, grid + drawn + _axis_names(x_name, y_name))


Point = tuple[float, float, int, str]
"""Score, accuracy, count and a sentence shown on hovering."""


def reliability_point(point: Mapping[str, Any]) -> Point:
    """A point of the calibration of a report."""
    score, accuracy, count = point["score"], point["accuracy"], point["count"]
    return score, accuracy, count, f"Scores around {score:.2f}: {100 * accuracy:.1f} % right of {count:,}"


def reliability(
    title: str, points: Sequence[Point], x_name: str, y_name: str, *, before: Sequence[Point] = ()
) -> str:
    """Accuracy over score, both in [0, 1], against the diagonal; a point is the larger the more it stands for.

    ``before`` is drawn below, as a thinner line.
    """
    ticks = [(v / 4, f"{v / 4:g}") for v in range(5)]
    most = max((count for _, _, count, _ in points), default=1)
    path, former = (
        " ".join(f"{_across(x):.1f},{_up(y):.1f}" for x, y, _, _ in line) for line in (points, before)
    )
    dots = "".join(
        f'<circle cx="{_across(x):.1f}" cy="{_up(y):.1f}" r="{3 + 6 * math.sqrt(count / most):.1f}" class="dot">'
        f"<title>{escape(hint)}</title></circle>"
        for x, y, count, hint in points
    )
    diagonal = f'<line x1="{_across(0)}" y1="{_up(0)}" x2="{_across(1)}" y2="{_up(1)}" class="ideal"/>'
    return _svg(
        title,
        _HEIGHT,
        _grid(ticks, ticks)
        + diagonal
        + (f'<polyline points="{former}" class="former"/>' if before else "")
        + f'<polyline points="{path}" class="line"/>'
        + dots
        + _axis_names(x_name, y_name),
    )


def standalone(chart: str) -> str:
    """A chart as a file of its own: with the styles of the page, light and dark."""
    css = resources.files("longtail.evaluation").joinpath("report.css").read_text(encoding="utf-8")
    start, end = chart.split(">", 1)
    size = f'xmlns="http://www.w3.org/2000/svg" width="{WIDTH}"'
    return f"{start.replace('<svg', f'<svg {size}')}><style>{css}</style>{end}\n"


def _svg(title: str, height: float, content: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{content}</svg>"
    )


def _grid(across: Sequence[tuple[float, str]], up: Sequence[tuple[float, str]]) -> str:
    left, right, bottom, top = _across(0), _across(1), _up(0), _up(1)
    vertical = "".join(
        f'<line x1="{_across(x):.1f}" y1="{top}" x2="{_across(x):.1f}" y2="{bottom}" class="grid"/>'
        f'<text x="{_across(x):.1f}" y="{bottom + 16}" text-anchor="middle" class="tick">{escape(name)}</text>'
        for x, name in across
    )
    horizontal = "".join(
        f'<line x1="{left}" y1="{_up(y):.1f}" x2="{right}" y2="{_up(y):.1f}" class="grid"/>'
        f'<text x="{left - 7}" y="{_up(y) + 4:.1f}" text-anchor="end" class="tick">{escape(name)}</text>'
        for y, name in up
    )
    return vertical + horizontal


def _axis_names(x_name: str, y_name: str) -> str:
    middle = (_up(0) + _up(1)) / 2
    return (
        f'<text x="{(_across(0) + _across(1)) / 2:.1f}" y="{_HEIGHT - 6}" text-anchor="middle" class="axis">'
        f'{escape(x_name)}</text><text transform="translate(11 {middle:.1f}) rotate(-90)" text-anchor="middle" '
        f'class="axis">{escape(y_name)}</text>'
    )


def _across(part: float) -> float:
    return _LEFT + part * (WIDTH - _LEFT - _RIGHT)


def _up(part: float) -> float:
    return _HEIGHT - _BOTTOM - part * (_HEIGHT - _BOTTOM - _TOP)


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _powers(top: float) -> list[int]:
    return [10**i for i in range(math.floor(math.log10(top) + 1e-9) + 1)]


def _short(value: int) -> str:
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if value >= size:
            return f"{value // size}{letter}"
    return str(value)
