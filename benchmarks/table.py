"""Markdown tables from results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

METRICS = ("P@1", "P@3", "P@5", "nDCG@5", "PSP@1", "PSP@3", "PSP@5", "R@10")
COSTS = {
    "train s": "train_seconds",
    "train CPU s": "train_cpu_seconds",
    "batch ms": "batch_ms",
    "single ms": "single_ms_median",
    "peak MB": "peak_mb",
    "model MB": "model_mb",
}
"""Column heads and the results' keys, all of them better when lower."""


def run_table(result: Mapping[str, Any]) -> str:
    """A caption and one row a contestant; the best figure of a column is bold."""
    finished = [contestant for contestant in result["contestants"] if "error" not in contestant]
    lines = [
        caption(result),
        "",
        _row(["system", *METRICS, *COSTS]),
        "|---|" + "---:|" * (len(METRICS) + len(COSTS)),
    ]
    alone = len(finished) == 1
    best = {name: max((c["metrics"][name] for c in finished), default=0.0) for name in METRICS}
    least = {key: min((c[key] for c in finished), default=0.0) for key in COSTS.values()}
    for contestant in finished:
        metrics = [(f"{contestant['metrics'][m]:.2f}", f"{best[m]:.2f}") for m in METRICS]
        costs = [(three_digits(contestant[key]), three_digits(least[key])) for key in COSTS.values()]
        cells = [f"**{own}**" if own == top and not alone else own for own, top in metrics + costs]
        lines.append(_row([contestant["name"], *cells]))
    lines += [
        f"\n{contestant['name']} failed: {contestant['error']}"
        for contestant in result["contestants"]
        if "error" in contestant
    ]
    return "\n".join(lines) + "\n"


def caption(result: Mapping[str, Any]) -> str:
    """What the metrics were measured on."""
    data, machine = result["data"], result["machine"]
    splits = f", mean of {data['splits']} splits" if data.get("splits", 1) > 1 else ""
    return (
        f"**{data['name']}**: {data['train_documents']:,} training and {data['test_documents']:,} test documents, "
        f"{data['labels']:,} labels, {data['feature_columns']:,} features{splits}; "
        f"{result['threads']} threads on {machine['processor']}, seed {result['seed']}, {result['date'][:10]}."
    )


def three_digits(value: float) -> str:
    """A number with three significant figures, never in powers of ten."""
    if value >= 100:
        return f"{value:,.0f}"
    if value >= 10:
        return f"{value:.1f}"
    if value >= 1:
        return f"{value:.2f}"
    return f"{value:.3g}" if value >= 0.001 else "<0.001"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
