"""The tables of results in the README, generated from benchmarks/results: python -m benchmarks.readme_results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ensembles import METRICS

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
START, END = "<!-- results -->", "<!-- end of results -->"

CAPTIONS = {
    "debian": "by title: 39,653 training documents, 42,421 labels, 83 % of them with fewer than five documents",
    "wordnet": "by title: 81,508 training documents, 102,304 labels, 90 % of them with fewer than five documents",
    "eurlex-4.3k": "full text: 45,000 training documents, 4,271 labels",
}
PEERS = {
    "debian": ("debian-title-peers.json",),
    "wordnet": ("wordnet-title.json",),
    "eurlex-4.3k": ("eurlex-4.3k-all-peers.json",),
}
PEER_NAMES = {
    "pecos": "PECOS XR-Linear",
    "omikuji-parabel": "omikuji (Parabel)",
    "omikuji-bonsai": "omikuji (Bonsai)",
    "napkinxc": "napkinXC",
}
COST = "debian-title-ensemble.json"


def read(name: str) -> Any:
    """A file of results."""
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def peers(data: str) -> list[tuple[str, list[float]]]:
    """Other libraries."""
    return [
        (PEER_NAMES[row["name"]], [row["metrics"][metric] for metric in METRICS])
        for file in PEERS[data]
        for row in read(file)["contestants"]
        if row["name"] in PEER_NAMES
    ]


def ours(data: str) -> list[tuple[str, list[float]]]:
    """Systems alone and ensembles, each the mean over its seeds; systems first. The last file of a row counts."""
    found: dict[tuple[str, ...], list[list[float]]] = {}
    for path in sorted(RESULTS.glob(f"ensemble-{data}-*.json")):
        here: dict[tuple[str, ...], list[list[float]]] = {}
        for row in read(path.name)["rows"]:
            if "balance" not in row:
                here.setdefault(tuple(row["members"]), []).append([row["metrics"][m] for m in METRICS])
        found |= here
    rows = []
    for members in sorted(found, key=lambda names: (len(names), names)):
        seeds = len(found[members])
        name = f"`{members[0]}`" if len(members) == 1 else f"ensemble of {', '.join(members)}"
        rows.append((name + (f" ({seeds} seeds)" if seeds > 1 else ""), _mean(found[members])))
    return rows


def _mean(rows: Sequence[Sequence[float]]) -> list[float]:
    return [float(value) for value in np.mean(rows, axis=0)]


def table(data: str) -> str:
    """One data set; the best of each column is bold."""
    rows = peers(data) + ours(data)
    best = np.max([values for _, values in rows], axis=0)
    lines = [
        f"**{data}** {CAPTIONS[data]}",
        "",
        "| system | " + " | ".join(METRICS) + " |",
        "|---|" + "---:|" * len(METRICS),
    ]
    for name, values in rows:
        cells = [
            f"**{v:.2f}**" if f"{v:.2f}" == f"{b:.2f}" else f"{v:.2f}"
            for v, b in zip(values, best, strict=True)
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def cost() -> str:
    """The default ensemble beside PECOS, one run."""
    both = {row["name"]: row for row in read(COST)["contestants"]}
    keys = {
        "training, processor seconds": ("train_cpu_seconds", 0),
        "batch prediction, processor ms per document": ("batch_cpu_ms", 2),
        "single-document latency, median ms": ("single_ms_median", 2),
        "model folder, MB": ("model_mb", 0),
    }
    lines = [
        "**Cost** of the ensemble of linear, lexical and eclare beside PECOS on `debian` titles, one run, one "
        "thread (the ensemble reads texts, PECOS feature rows):",
        "",
        "| | ensemble | PECOS | ratio |",
        "|---|---:|---:|---:|",
    ]
    for name, (key, digits) in keys.items():
        own, other = both["ensemble"][key], both["pecos"][key]
        lines.append(f"| {name} | {own:.{digits}f} | {other:.{digits}f} | {own / other:.1f} |")
    return "\n".join(lines)


def section() -> str:
    """Everything between the two marks."""
    return "\n\n".join([START, *(table(data) for data in CAPTIONS), cost(), END])


def main(readme: Path = ROOT / "README.md") -> None:
    """Rewrite the section of the README."""
    text = readme.read_text(encoding="utf-8")
    before, rest = text.split(START, 1)
    readme.write_text(before + section() + rest.split(END, 1)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
