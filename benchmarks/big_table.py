"""The big table as Markdown, from the files below benchmarks/results/big; what has not been run is not in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import results
from benchmarks.big import CONTESTANTS, DATA_SETS, FOLDER, OF_PEERS
from benchmarks.system import AUTO
from benchmarks.table import three_digits

METRICS = ("P@1", "P@3", "P@5", "nDCG@5", "PSP@1", "PSP@3", "PSP@5", "R@10", "cold R@10")
PEER_NAMES = {
    "pecos": "PECOS XR-Linear",
    "omikuji-parabel": "omikuji (Parabel)",
    "omikuji-bonsai": "omikuji (Bonsai)",
    "napkinxc": "napkinXC",
    "fasttext": "fastText",
    "annif": "Annif (ensemble)",
    "minilm-names": "MiniLM, cosine to label names",
    "minilm-knn": "MiniLM, nearest neighbours",
    "minilm-both": "MiniLM, both added",
}


@dataclass(frozen=True, slots=True)
class Measured:
    """A contestant on one data set: the mean over its runs; None: it has no such number."""

    contestant: str
    members: tuple[str, ...]
    runs: int
    metrics: Mapping[str, float | None]
    f1: float | None
    calibration_error: float | None
    train_cpu_seconds: float
    predict_cpu_ms: float
    peak_mb: float
    model_mb: float

    @property
    def name(self) -> str:
        """As it is shown."""
        if self.contestant in PEER_NAMES:
            shown = PEER_NAMES[self.contestant]
        elif self.contestant.startswith(AUTO):
            _, _, budget = self.contestant.partition("-")
            within = f" within {budget}" if budget else ""
            shown = f"`auto`{within}: {', '.join(self.members)}"
        else:
            shown = f"`{self.contestant}`"
        return shown + (f" ({self.runs} runs)" if self.runs > 1 else "")

    def cells(self) -> list[tuple[float | None, str, int]]:
        """Values as numbers and as text; 1: higher is better, -1: lower is."""
        shares = [*(self.metrics[name] for name in METRICS), self.f1]
        cells: list[tuple[float | None, str, int]] = [(value, _percent(value), 1) for value in shares]
        cells.append((self.calibration_error, _percent(self.calibration_error), -1))
        costs = (self.train_cpu_seconds, self.predict_cpu_ms, self.peak_mb, self.model_mb)
        return cells + [(value, three_digits(value), -1) for value in costs]


HEADS = (*METRICS, "F1", "ECE", "train s", "predict ms", "MB", "model MB")


def measured(data: str, folder: Path = FOLDER) -> list[Measured]:
    """The contestants of a data set in the order of the table."""
    found = []
    for contestant in CONTESTANTS:
        paths = sorted(folder.glob(f"{data}/{contestant}-[0-9]*.json"))
        runs = [results.read(path) for path in paths]
        runs = [run for run in runs if "error" not in run["contestants"][0]]
        if runs:
            found.append(_mean(contestant, runs))
    return found


def _mean(contestant: str, runs: Sequence[Mapping[str, Any]]) -> Measured:
    rows = [run["contestants"][0] for run in runs]
    features = [
        {} if row["reads_text"] else run["data"]["features"] for run, row in zip(runs, rows, strict=True)
    ]
    chosen = [row.get("chosen") for row in rows]
    settings = rows[0]["settings"]
    return Measured(
        contestant=contestant,
        members=tuple(settings.get("members", ())) or (str(rows[0].get("system", contestant)),),
        runs=len(rows),
        metrics={name: _of(row["metrics"].get(name) for row in rows) for name in METRICS},
        f1=_of(None if choice is None else choice["micro F1"] for choice in chosen),
        calibration_error=_of(row.get("calibration_error") for row in rows),
        # Whoever reads feature rows has not paid for them.
        train_cpu_seconds=_sum(rows, "train_cpu_seconds", features, "fit_cpu_seconds"),
        predict_cpu_ms=_sum(rows, "batch_cpu_ms", features, "transform_cpu_ms"),
        peak_mb=float(np.mean([row["peak_mb"] for row in rows])),
        model_mb=float(np.mean([row["model_mb"] for row in rows])),
    )


def _of(values: Iterable[float | None]) -> float | None:
    given = [value for value in values if value is not None]
    return float(np.mean(given)) if given else None


def _sum(
    rows: Sequence[Mapping[str, Any]], key: str, features: Sequence[Mapping[str, Any]], extra: str
) -> float:
    return float(np.mean([row[key] + own.get(extra, 0.0) for row, own in zip(rows, features, strict=True)]))


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def table(data: str, folder: Path = FOLDER) -> str | None:
    """One data set; the best of each column is bold. None: nothing was run."""
    rows = measured(data, folder)
    if not rows:
        return None
    cells = [row.cells() for row in rows]
    best = [_best([own[column] for own in cells]) for column in range(len(HEADS))]
    lines = ["| | " + " | ".join(HEADS) + " |", "|---|" + "---:|" * len(HEADS)]
    for row, own in zip(rows, cells, strict=True):
        shown = [
            f"**{text}**" if text and text == top else text
            for (_, text, _), top in zip(own, best, strict=True)
        ]
        lines.append(f"| {row.name} | {' | '.join(shown)} |")
    missing = [name for name in _wanted(data) if name not in {row.contestant for row in rows}]
    if missing:
        lines += ["", f"Not run yet: {', '.join(PEER_NAMES.get(name, f'`{name}`') for name in missing)}."]
    return "\n".join(lines)


def _wanted(data: str) -> Sequence[str]:
    return next(known.contestants for known in DATA_SETS if known.name == data)


def _best(cells: Sequence[tuple[float | None, str, int]]) -> str | None:
    given = [(direction * value, text) for value, text, direction in cells if value is not None]
    return max(given)[1] if len(given) > 1 else None


def peers(data: str, folder: Path = FOLDER) -> dict[str, Measured]:
    """The other libraries that were run."""
    return {row.contestant: row for row in measured(data, folder) if row.contestant in OF_PEERS}
