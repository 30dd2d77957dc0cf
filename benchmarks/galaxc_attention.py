"""Fig. 6 of GalaXC from a trained model: python -m benchmarks.galaxc_attention --model DIR --data DIR --out SVG.

The attention of labels to each resolution of a document, times the mean length of that resolution over training
documents, in groups of labels of rising frequency. Prints the mean and the standard deviation over labels.
"""

import argparse
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, cast

import numpy as np

import longtail
from longtail.data import read_folder
from longtail.evaluation.insight import Insight
from longtail.systems.galaxc.attention_insight import attention_by_frequency
from longtail.systems.galaxc.predict import GraphDocuments
from longtail.systems.galaxc.system import Galaxc
from longtail.text.feature_store import FeatureStore
from longtail.types import Dataset

SAMPLE = 2000
"""Training documents whose resolutions are measured."""
COLOURS = ("#3b6fb6", "#c2571a", "#3d8a4e", "#8a4d9e")
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 520, 300, 46, 90, 16, 44


def lengths(model: Galaxc, train: Dataset) -> np.ndarray:
    """The mean length of each transformed resolution of training documents [K]."""
    rows = np.random.default_rng(0).permutation(len(train))[:SAMPLE]
    documents = train.take(np.sort(rows)).documents
    encoded = cast(GraphDocuments, model._encode(documents, FeatureStore(documents)))
    found = np.linalg.norm(encoded.resolutions.transformed, axis=2).mean(axis=0)
    return np.asarray(found)


def measured(model: Galaxc, train: Dataset) -> dict[str, Any]:
    """What the plot shows, and how far the attention of labels differs."""
    attention, counts = model.predictor_.weights.attention, model.label_counts_
    insight = attention_by_frequency(attention * lengths(model, train), counts, model.config.graph)
    warm = attention[counts > 0]
    return {
        "groups": insight.x,
        "attention times length": insight.series,
        "mean": [round(float(value), 4) for value in attention.mean(axis=0)],
        "standard deviation": [round(float(value), 4) for value in attention.std(axis=0)],
        "standard deviation, labels with documents": [round(float(value), 4) for value in warm.std(axis=0)],
    }


def plot(insight: Insight) -> str:
    """A line per resolution over the groups of labels, as SVG."""
    top = max(max(values) for values in insight.series.values())
    step = (_WIDTH - _LEFT - _RIGHT) / max(len(insight.x) - 1, 1)

    def up(value: float) -> float:
        return _HEIGHT - _BOTTOM - value / top * (_HEIGHT - _BOTTOM - _TOP)

    parts = []
    for part in range(5):
        y = up(top * part / 4)
        parts.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{top * part / 4:.2f}</text>')
    for place, name in enumerate(insight.x):
        x = _LEFT + place * step
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - 26}" text-anchor="middle">{escape(name)}</text>')
    parts.append(
        f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2}" y="{_HEIGHT - 8}" text-anchor="middle">'
        "training documents of the label</text>"
    )
    for number, (name, values) in enumerate(insight.series.items()):
        colour = COLOURS[number % len(COLOURS)]
        points = [(_LEFT + place * step, up(value)) for place, value in enumerate(values)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        y = _TOP + 14 + 18 * number
        parts.append(f'<rect x="{_WIDTH - _RIGHT + 24}" y="{y - 9}" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{_WIDTH - _RIGHT + 40}" y="{y}">{escape(name)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" '
        f'font-size="11"><title>{escape(insight.title)}</title>'
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>{"".join(parts)}</svg>\n'
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options, print the numbers, write the plot."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.galaxc_attention", description=__doc__)
    parser.add_argument("--model", required=True, help="the folder of a trained galaxc")
    parser.add_argument("--data", required=True, help="the folder that it was trained on")
    parser.add_argument("--out", type=Path, required=True, help="the SVG file to write")
    parser.add_argument("--json", type=Path, help="the JSON file to write")
    options = parser.parse_args(arguments)
    model = longtail.load(options.model)
    if not isinstance(model, Galaxc):
        parser.error(f"{options.model} is a model of '{model.name}', not of 'galaxc'")
    found = measured(model, read_folder(options.data, parts=("train",))["train"])
    print(json.dumps(found, indent=1))
    groups = [name.removesuffix(" documents") for name in found["groups"]]
    picture = plot(Insight("Attention per hop", "", groups, found["attention times length"]))
    options.out.write_text(picture, encoding="utf-8")
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
