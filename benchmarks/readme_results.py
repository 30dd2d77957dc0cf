"""The tables of results, generated from benchmarks/results: python -m benchmarks.readme_results.

``docs/results.md`` has all of them, the README five rows of the first data set. Whatever files are there count: a
peer or an ensemble that has not been measured is left out, and a cost that was not measured is an empty cell.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import big_table
from benchmarks.big import DATA_SETS
from benchmarks.big_table import PEER_NAMES
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
    "debian": ("debian-title-peers.json", "debian-title-others.json"),
    "wordnet": ("wordnet-title.json", "wordnet-title-others.json"),
    "eurlex-4.3k": ("eurlex-4.3k-all-peers.json", "eurlex-4.3k-others.json"),
}
"""Files with rows of other libraries; those that are missing are left out."""

PREFERRED = (
    ("pecos",),
    ("omikuji-bonsai", "omikuji-parabel"),
    ("annif",),
    ("minilm-both", "minilm-knn"),
    ("napkinxc",),
    ("fasttext",),
)
"""Peers of the README in this order, one of each group, until there are five rows."""

BIG = """\
`python -m benchmarks all --data DIR` runs what is missing of these tables. Runs are in `benchmarks/results/big`,
one file per data set, contestant and seed. All contestants have the same splits and metrics, one processor thread,
and settings that are defaults or chosen on validation documents. Without a number of runs, a row is of seed 0.
`bibtex` and `delicious` have ten splits, feature rows instead of texts, and no validation part.

- **cold R@10**: recall at 10 of labels without a training document.
- **F1**: micro F1 of labels above one threshold, which is chosen on validation documents for each contestant.
- **ECE**: expected calibration error of the five best labels, where scores are between 0 and 1. longtail's are
  calibrated on validation documents.
- **train s**, **predict ms**: processor seconds of training, processor milliseconds per document in a batch; both
  with features.
- **MB**: peak memory of the process, data included. MiniLM needs its encoder besides the model (90 MB)."""
"""What stands above the big table."""

ROWS = 5
COST = "debian-title-ensemble.json"
_SHOWN = ("P@1", "PSP@5")


@dataclass(frozen=True, slots=True)
class Row:
    """A system with its metrics in the order of METRICS, and what it costs where that was measured."""

    name: str
    values: list[float]
    train_minutes: float | None = None
    batch_ms: float | None = None

    def metric(self, name: str) -> float:
        """One of the metrics."""
        return self.values[METRICS.index(name)]


def read(name: str) -> Any:
    """A file of results."""
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def peers(data: str) -> dict[str, Row]:
    """Other libraries by the name of the contestant; the big table counts before files of a single run."""
    of_table = big_table.peers(data, RESULTS / "big")
    found = {name: _row(PEER_NAMES[name], measured) for name, measured in of_table.items()}
    for file in PEERS[data]:
        if not (RESULTS / file).is_file():
            continue
        for row in read(file)["contestants"]:
            if row["name"] in PEER_NAMES and row["name"] not in found:
                found[row["name"]] = Row(
                    PEER_NAMES[row["name"]],
                    [row["metrics"][metric] for metric in METRICS],
                    _minutes(row.get("train_cpu_seconds")),
                    row.get("batch_cpu_ms"),
                )
    return found


def _row(name: str, measured: big_table.Measured) -> Row:
    return Row(
        name,
        [measured.metrics[metric] or 0.0 for metric in METRICS],
        _minutes(measured.train_cpu_seconds),
        measured.predict_cpu_ms,
    )


def in_big_table(data: str) -> list[Row]:
    """Systems and ensembles of longtail that the big table has."""
    every = big_table.measured(data, RESULTS / "big")
    return [_row(found.name, found) for found in every if found.contestant not in PEER_NAMES]


def ours(data: str) -> list[Row]:
    """Systems alone and ensembles, each the mean over its seeds; systems first. The last file of a row counts."""
    found: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for path in sorted(RESULTS.glob(f"ensemble-{data}-*.json")):
        here: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
        for row in read(path.name)["rows"]:
            if "balance" not in row:
                here.setdefault(tuple(row["members"]), []).append(row)
        found |= here
    rows = []
    for members in sorted(found, key=lambda names: (len(names), names)):
        seeds = found[members]
        name = f"`{members[0]}`" if len(members) == 1 else f"ensemble of {', '.join(members)}"
        rows.append(
            Row(
                name + (f" ({len(seeds)} seeds)" if len(seeds) > 1 else ""),
                _mean([[row["metrics"][metric] for metric in METRICS] for row in seeds]),
                _minutes(_member_seconds(members, seeds)),
                next((row["batch_cpu_ms"] for row in seeds if "batch_cpu_ms" in row), None),
            )
        )
    return rows


def _member_seconds(members: Sequence[str], seeds: Sequence[Mapping[str, Any]]) -> float | None:
    """The mean processor seconds of the seeds whose members were all measured."""
    whole = [row["cpu_seconds"] for row in seeds if set(members) <= set(row.get("cpu_seconds", {}))]
    return float(np.mean([sum(seconds.values()) for seconds in whole])) if whole else None


def _minutes(seconds: float | None) -> float | None:
    return None if seconds is None else seconds / 60


def _mean(rows: Sequence[Sequence[float]]) -> list[float]:
    return [float(value) for value in np.mean(rows, axis=0)]


def table(data: str) -> str:
    """One data set; the best of each column is bold."""
    rows = [*peers(data).values(), *ours(data)]
    best = np.max([row.values for row in rows], axis=0)
    lines = [
        f"**{data}** {CAPTIONS[data]}",
        "",
        "| system | " + " | ".join(METRICS) + " |",
        "|---|" + "---:|" * len(METRICS),
    ]
    for row in rows:
        cells = [
            f"**{v:.2f}**" if f"{v:.2f}" == f"{b:.2f}" else f"{v:.2f}"
            for v, b in zip(row.values, best, strict=True)
        ]
        lines.append(f"| {row.name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def measured(data: str) -> bool:
    """Whether there are rows of a data set."""
    return bool(peers(data)) or bool(ours(data))


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


def big_section() -> str:
    """The big table, a part per data set."""
    tables = {data.name: big_table.table(data.name, RESULTS / "big") for data in DATA_SETS}
    parts = [f"### {name}\n\n{content}" for name, content in tables.items() if content is not None]
    if not parts:
        return ""
    return "\n\n".join(["## Every system and peer in one harness", BIG, *parts])


def section() -> str:
    """All tables, between the two marks, for docs/results.md."""
    costs = [cost()] if (RESULTS / COST).is_file() else []
    big = [big_section()] if big_section() else []
    heading = ["## Ensembles and their members"]
    return "\n\n".join(
        [START, *big, *heading, *(table(data) for data in CAPTIONS if measured(data)), *costs, END]
    )


def best_rows(data: str) -> list[Row]:
    """The best of ours by P@1 and the preferred peers; further ensembles of ours where peers are missing."""
    there = peers(data)
    own = sorted([*ours(data), *in_big_table(data)], key=lambda row: -row.metric("P@1"))
    chosen = [
        next(there[name] for name in group if name in there) for group in PREFERRED if set(group) & set(there)
    ]
    rows = own[:1] + chosen[: ROWS - 1]
    return rows[:1] + own[1 : 1 + ROWS - len(rows)] + rows[1:]


def short_section() -> str:
    """The table of the README, between the two marks."""
    data = next(data for data in CAPTIONS if measured(data))
    lines = [
        START,
        f"`{data}` {CAPTIONS[data]}:",
        "",
        f"| | {' | '.join(_SHOWN)} | training, processor minutes | prediction, processor ms per document |",
        "|---|---:|---:|---:|---:|",
    ]
    rows = best_rows(data)
    best = {name: max(f"{row.metric(name):6.2f}" for row in rows) for name in _SHOWN}
    for row in rows:
        metrics = [f"{row.metric(name):6.2f}" for name in _SHOWN]
        cells = [
            f"**{m.strip()}**" if m == best[n] else m.strip() for n, m in zip(_SHOWN, metrics, strict=True)
        ]
        costs = [f"{row.train_minutes:.1f}" if row.train_minutes is not None else ""]
        costs.append(f"{row.batch_ms:.2f}" if row.batch_ms is not None else "")
        name = row.name if row.name in PEER_NAMES.values() else f"longtail, {row.name}"
        lines.append(f"| {name} | {' | '.join([*cells, *costs])} |")
    return "\n".join([*lines, END])


def rewritten(text: str, content: str) -> str:
    """A page with the content between the two marks."""
    before, rest = text.split(START, 1)
    return before + content + rest.split(END, 1)[1]


def main(readme: Path = ROOT / "README.md", results: Path = ROOT / "docs" / "results.md") -> None:
    """Rewrite the sections of the README and of the page of results."""
    for page, content in {readme: short_section(), results: section()}.items():
        page.write_text(rewritten(page.read_text(encoding="utf-8"), content), encoding="utf-8")


if __name__ == "__main__":
    main()
