"""Costs over numbers of labels as one SVG picture, both axes logarithmic, a panel a kind of cost."""

import math
from collections.abc import Mapping, Sequence
from html import escape

Rows = Sequence[Mapping[str, float]]

PANELS = {
    "seconds an epoch": ("embed s", "shortlist s", "rank s"),
    "peak memory, GB": ("peak GB",),
    "ms a prediction": ("batch ms", "alone ms"),
}
COLOURS = ("#3b6fb6", "#c2571a", "#3d8a4e")
_WIDTH, _HEIGHT = 270, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 30, 38


def plot(rows: Rows) -> str:
    """The picture."""
    panels = "".join(
        f'<g transform="translate({i * _WIDTH} 0)">{_panel(title, rows, columns)}</g>'
        for i, (title, columns) in enumerate(PANELS.items())
    )
    width = _WIDTH * len(PANELS)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {_HEIGHT}" font-family="sans-serif" '
        f'font-size="11"><title>Cost over the number of labels</title>'
        f'<rect width="{width}" height="{_HEIGHT}" fill="white"/>{panels}</svg>\n'
    )


def _panel(title: str, rows: Rows, columns: Sequence[str]) -> str:
    labels = [row["labels"] for row in rows]
    # A cost of nothing has no place on a logarithmic axis.
    values = [max(row[column], 1e-3) for row in rows for column in columns]
    x0, x1 = _decades(labels)
    y0, y1 = _decades(values)

    def across(value: float) -> float:
        return _LEFT + (math.log10(value) - x0) / (x1 - x0) * (_WIDTH - _LEFT - _RIGHT)

    def up(value: float) -> float:
        return _HEIGHT - _BOTTOM - (math.log10(value) - y0) / (y1 - y0) * (_HEIGHT - _BOTTOM - _TOP)

    parts = [f'<text x="{_LEFT}" y="16" font-weight="bold">{escape(title)}</text>']
    for power in range(x0, x1 + 1):
        x = across(10.0**power)
        parts.append(_line(x, up(10.0**y0), x, up(10.0**y1)))
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - 22}" text-anchor="middle">{10**power:,}</text>')
    for power in range(y0, y1 + 1):
        y = up(10.0**power)
        parts.append(_line(across(10.0**x0), y, across(10.0**x1), y))
        parts.append(f'<text x="{_LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    parts.append(f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 6}" text-anchor="middle">labels</text>')
    for number, (column, colour) in enumerate(zip(columns, COLOURS, strict=False)):
        points = [(across(row["labels"]), up(max(row[column], 1e-3))) for row in rows]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        name = column.rsplit(" ", 1)[0]
        parts.append(
            f'<text x="{_LEFT + 6}" y="{_TOP + 12 + 14 * number}" fill="{colour}">{escape(name)}</text>'
        )
    return "".join(parts)


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """Powers of ten that enclose the values."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#ddd"/>'
