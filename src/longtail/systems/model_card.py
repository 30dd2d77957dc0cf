"""The README.md of a model folder (model card) and its plots: data, metrics, calibration, limits, use, settings.

All of it depends on data, settings and seed alone: equal models have equal cards.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from longtail import config as configuration
from longtail.calibration import DEPTH
from longtail.evaluation import svg

if TYPE_CHECKING:
    from longtail.calibration.calibration import Calibration
    from longtail.systems.base import System

PLOTS = "plots"
PRECISIONS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Precisions whose thresholds the card lists."""


def write_card(system: System, folder: Path) -> None:
    """Write README.md and the plots that it shows."""
    (folder / "README.md").write_text(model_card(system), encoding="utf-8")
    drawn = plots(system)
    if drawn:
        (folder / PLOTS).mkdir()
    for name, content in drawn.items():
        (folder / PLOTS / name).write_text(content, encoding="utf-8")


def model_card(system: System) -> str:
    """The card in Markdown."""
    counts = system.label_counts_
    settings = "\n".join(f"{key} = {value!r}" for key, value in configuration.to_dict(system.config).items())
    rare = int(((counts > 0) & (counts <= 5)).sum())
    return f"""# A longtail model: {system.name}

## Data
- {system.facts_.documents:,} training documents, {int(counts.sum()):,} label assignments
- {len(counts):,} labels: {int((counts > 0).sum()):,} with training documents, {rare:,} of them with at most five
- fingerprint (sha256): `{system.facts_.fingerprint}`

## Metrics on the validation documents
{_metrics(system)}
{_by_frequency(system)}
## Calibration
{_calibration(system.calibration_)}
## Use
```python
import longtail

model = longtail.load("path/to/this/folder")
best = model.predict(["a text to tag"], k=5)
print(best.labels[0])
```
On the command line: `longtail predict path/to/this/folder documents.jsonl -o tagged.jsonl -k 5`.
{_choices(system.calibration_)}
## Limits
{_limits(system)}

## Settings
```
{settings}
```
"""


def plots(system: System) -> dict[str, str]:
    """SVG files by name: recall by label frequency, and calibration."""
    found = {}
    validation, calibration = system.facts_.validation, system.calibration_
    if rows := validation.get("bins"):
        drawn = [(row["name"], row["R"], f"{row['name']}: {row['R']:.2f}") for row in rows]
        title = f"Recall@{validation['k']} by training documents of the label"
        found["recall.svg"] = svg.standalone(svg.bars(title, drawn, top=100.0, kind="recall"))
    if calibration is not None:
        before = calibration.facts["before"] or {"points": []}
        chart = svg.reliability(
            "Share of predictions that is right, by score",
            [svg.reliability_point(point) for point in calibration.facts["after"]["points"]],
            "score",
            "share that is right",
            before=[svg.reliability_point(point) for point in before["points"]],
        )
        found["calibration.svg"] = svg.standalone(chart)
    return found


def _metrics(system: System) -> str:
    if not system.facts_.metrics:
        return "None: the data had no validation part.\n"
    head = "| metric | value | 95 % interval |\n|---|---|---|\n"
    rows = (
        f"| {name} | {metric['value']:.2f} | {metric['low']:.2f} to {metric['high']:.2f} |"
        for name, metric in sorted(system.facts_.metrics.items())
    )
    return head + "\n".join(rows) + "\n"


def _by_frequency(system: System) -> str:
    validation = system.facts_.validation
    if not validation:
        return ""
    k, rows = validation["k"], validation["bins"]
    where = "held-out training documents" if validation["held_out"] else "documents"
    lines = "\n".join(
        f"| {row['name']} | {row['labels']:,} | {row['assignments']:,} | {row['R']:.2f} | {row['P']:.2f} | "
        f"{row['PSP']:.2f} |"
        for row in rows
    )
    return f"""
Measured on {validation["documents"]:,} {where}. By training documents of the label:

| training documents | labels | assignments | R@{k} | part of P@{k} | part of PSP@{k} |
|---|---|---|---|---|---|
{lines}

![Recall by training documents of the label]({PLOTS}/recall.svg)
"""


def _calibration(calibration: Calibration | None) -> str:
    if calibration is None:
        return "None: scores are those of the system, not probabilities.\n"
    facts = calibration.facts
    rows = "\n".join(
        f"| the {k} best labels | {_error(facts['before'], k)} | {_error(facts['after'], k)} |"
        for k in facts["after"]["errors"]
    )
    return f"""Scores are probabilities, fitted on {facts["documents"]:,} documents ({facts["method"]}). Expected
calibration error x100 on these documents (after: each half by a fit on the other half):

| of | before | after |
|---|---|---|
{rows}

![Share of predictions that is right, by score]({PLOTS}/calibration.svg)
"""


def _error(found: Any, k: str) -> str:
    return "no probabilities" if found is None else f"{100 * found['errors'][k]:.2f}"


def _choices(calibration: Calibration | None) -> str:
    """How labels are chosen, and what a precision needs."""
    if calibration is None:
        return ""
    rows = []
    for wanted in PRECISIONS:
        threshold = calibration.counts.lowest_threshold(wanted)
        if threshold is None:
            rows.append(f"| {wanted:g} | cannot be had | |")
        else:
            rows.append(f"| {wanted:g} | {threshold:.3g} | {calibration.counts.at(threshold)[0]:,} |")
    table = "\n".join(rows)
    return f"""
`max_f1=True` (`--max-f1`) gives a document as many labels as have the highest expected F1. `precision=0.9`
(`--precision 0.9`) omits labels below the probability at which the validation documents keep this precision, with a
95 % lower bound:

| precision | least probability | labels of the validation documents |
|---|---|---|
{table}
"""


def _limits(system: System) -> str:
    cold = int((system.label_counts_ == 0).sum())
    limits = [
        "Metrics and probabilities hold for documents like those of the validation part.",
        f"Labels without training documents: {cold:,}; "
        + (
            "they are found by their texts alone, if at all."
            if system.capabilities.label_text
            else "they are never predicted."
        ),
    ]
    if system.calibration_ is not None:
        limits.append(
            f"Calibration was fitted on the {DEPTH} best labels of documents of which no label was revealed."
        )
    return "\n".join(f"- {limit}" for limit in limits)
