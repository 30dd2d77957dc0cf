"""Fig. 9 of ECLARE from a trained model: python -m benchmarks.eclare_parts --model DIR --out FILE.svg.

Attention weight times norm of the parts of classifiers (label text, graph-convolved label text, refinement vector),
the mean over labels in groups of rising frequency. The model is one of classifier.combine=attention. Prints the
figures, and writes them beside the picture as JSON.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, cast

import numpy as np

import longtail
from longtail.systems.eclare.config import ClassifierConfig
from longtail.systems.eclare.system import Eclare

GROUPS = {"0": (0, 0), "1-5": (1, 5), "6-20": (6, 20), "21-100": (21, 100), ">100": (101, None)}
"""Training documents of a label, from and to."""
COLOURS = ("#3b6fb6", "#c2571a", "#3d8a4e", "#8a4d9e", "#777777")
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 520, 300, 46, 110, 16, 44


def names_of(config: ClassifierConfig) -> list[str]:
    """The parts of a classifier in their order."""
    graph = [] if config.gale == "none" else [f"graph {hop}" for hop in range(1, config.order + 1)]
    return [*(["text"] if config.lte else []), *graph, *(["refinement"] if config.refinement else [])]


def by_frequency(parts: np.ndarray, counts: np.ndarray, names: Sequence[str]) -> dict[str, Any]:
    """Groups of labels, and the mean weight of each part in them; groups without labels are left out."""
    found: dict[str, Any] = {"groups": [], "labels": [], "weight": {name: [] for name in names}}
    for group, (low, high) in GROUPS.items():
        inside = (counts >= low) & (counts <= (counts.max() if high is None else high))
        if not inside.any():
            continue
        found["groups"].append(group)
        found["labels"].append(int(inside.sum()))
        for name, value in zip(names, parts[inside].mean(axis=0), strict=True):
            found["weight"][name].append(round(float(value), 4))
    return found


def plot(groups: Sequence[str], series: Mapping[str, Sequence[float]]) -> str:
    """A line per part over the groups of labels, as SVG."""
    top = max(max(values) for values in series.values()) or 1.0
    step = (_WIDTH - _LEFT - _RIGHT) / max(len(groups) - 1, 1)

    def up(value: float) -> float:
        return _HEIGHT - _BOTTOM - value / top * (_HEIGHT - _BOTTOM - _TOP)

    drawn = []
    for part in range(5):
        y = up(top * part / 4)
        drawn.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}" stroke="#ddd"/>')
        drawn.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{top * part / 4:.2f}</text>')
    for place, name in enumerate(groups):
        x = _LEFT + place * step
        drawn.append(f'<text x="{x:.1f}" y="{_HEIGHT - 26}" text-anchor="middle">{escape(name)}</text>')
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    drawn.append(
        f'<text x="{middle}" y="{_HEIGHT - 8}" text-anchor="middle">training documents of a label</text>'
    )
    for (name, values), colour in zip(series.items(), COLOURS, strict=False):
        points = [(_LEFT + place * step, up(value)) for place, value in enumerate(values)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        drawn.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        drawn += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        x, y = points[-1]
        drawn.append(f'<text x="{x + 8:.1f}" y="{y + 4:.1f}" fill="{colour}">{escape(name)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" '
        f'font-size="11"><title>Attention times norm of the parts of classifiers</title>'
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>{"".join(drawn)}</svg>\n'
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options, print the figures, write the picture."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.eclare_parts", description=__doc__)
    parser.add_argument("--model", required=True, help="a folder of eclare with classifier.combine=attention")
    parser.add_argument("--out", required=True, type=Path, help="the SVG file to write")
    options = parser.parse_args(arguments)
    model = longtail.load(options.model)
    if model.name != "eclare" or cast(Eclare, model).config.classifier.combine != "attention":
        parser.error(f"{options.model}: not a model of eclare with classifier.combine=attention")
    eclare = cast(Eclare, model)
    parts = eclare.models_[0].weights.parts
    found = by_frequency(parts, eclare.label_counts_, names_of(eclare.config.classifier))
    print(json.dumps(found, indent=1))
    options.out.write_text(plot(found["groups"], found["weight"]), encoding="utf-8")
    options.out.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
