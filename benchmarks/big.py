"""The big table: every system and peer on every data set, one JSON file per data set, contestant and seed.

``python -m benchmarks all --data DIR`` runs what is missing below ``benchmarks/results/big``. A file that is there
counts if it was made with the same settings and package versions; so a run can be cut off and taken up again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import contest_data, results
from benchmarks.contestant import Source
from benchmarks.errors import BenchmarkError
from benchmarks.machine import code, machine
from benchmarks.peers import PEERS, peer_of
from benchmarks.run import ROOT, Plan, contest, python_for
from benchmarks.system import AUTO, FROM_TEXT
from longtail import config, systems

FOLDER = Path(__file__).parent / "results" / "big"
DEPTH = 50
"""Labels per document that are predicted, so that thresholds have enough to choose from."""

SYSTEMS = ("linear", "lexical", "knn", "eclare", "galaxc", "xgrank", "gudn", "gnnxml")
ENSEMBLES = ("auto", "auto-5m")
OF_PEERS = tuple(name for peer in PEERS.values() for name in peer.contestants)
CONTESTANTS = (*SYSTEMS, *ENSEMBLES, *OF_PEERS)
ROWS_OR_TEXT = ("galaxc",)
"""Systems that read feature rows, but know more from texts."""

WITHOUT_CHANCE = ("lexical", "knn", "minilm-names", "minilm-knn", "minilm-both")
"""Contestants whose result does not depend on the seed: they are run once."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set of the table."""

    name: str
    fields: tuple[str, ...]
    contestants: tuple[str, ...] = CONTESTANTS
    splits: int = 1
    """Data with several splits use another split for every seed."""


NO_TEXT = ("linear", "knn", "auto", "pecos", "omikuji-parabel", "omikuji-bonsai", "napkinxc", "fasttext")
"""Contestants that can learn from feature rows; fastText reads the names of columns as words."""

DATA_SETS = (
    DataSet("debian", ("title",)),
    DataSet("wordnet", ("title",)),
    DataSet("eurlex-4.3k", ("title", "text")),
    DataSet("bibtex", ("title", "text"), NO_TEXT, splits=10),
    DataSet("delicious", ("title", "text"), NO_TEXT, splits=10),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of the table."""

    data: DataSet
    contestant: str
    seed: int

    @property
    def path(self) -> Path:
        """Where its result is."""
        return FOLDER / self.data.name / f"{self.contestant}-{self.seed}.json"

    @property
    def runs_as(self) -> str:
        """The name of the contestant in a run."""
        return self.contestant + (FROM_TEXT if self.contestant in ROWS_OR_TEXT else "")

    @property
    def split(self) -> int:
        """The split of the data."""
        return self.seed % self.data.splits

    def asked(self) -> dict[str, Any]:
        """What a result must have been made with to count."""
        peer = peer_of(self.contestant)
        if peer is None:
            made = {"settings": self._settings()}
        else:
            made = {"installs": [list(packages) for packages in peer.installs]}
        return {
            "contestant": self.contestant,
            "data": self.data.name,
            "fields": list(self.data.fields),
            "split": self.split,
            "seed": self.seed,
            "depth": DEPTH,
            **made,
        }

    def _settings(self) -> Any:
        """All default settings; those of every member, as a digest, where the members are chosen by the data."""
        if not self.contestant.startswith(AUTO):
            return config.to_dict(systems.get(self.contestant).Config())
        names = sorted({*SYSTEMS, "ensemble"})
        every = {name: config.to_dict(systems.get(name).Config()) for name in names}
        return hashlib.sha256(json.dumps(every, sort_keys=True).encode()).hexdigest()[:16]

    def is_done(self) -> bool:
        """Whether its result is there and still counts."""
        if not self.path.is_file():
            return False
        found = results.read(self.path)
        return found.get("asked") == self.asked() and "error" not in found["contestants"][0]


def entries(only: Sequence[str], sets: Sequence[str], seeds: Sequence[int] | None) -> Iterator[Entry]:
    """All files of the table that are asked for, cheap contestants of a data set first as they are listed."""
    unknown = [name for name in only if name not in CONTESTANTS]
    unknown += [name for name in sets if name not in {data.name for data in DATA_SETS}]
    if unknown:
        raise BenchmarkError(
            f"there is no {unknown[0]!r} in the table: it has {', '.join(CONTESTANTS)} on "
            f"{', '.join(data.name for data in DATA_SETS)}"
        )
    for data in DATA_SETS:
        if sets and data.name not in sets:
            continue
        usual = list(seeds) if seeds is not None else list(range(max(2, data.splits)))
        for seed in usual:
            for name in data.contestants:
                chance = data.splits > 1 or name not in WITHOUT_CHANCE
                if (not only or name in only) and (chance or seed == usual[0]):
                    yield Entry(data, name, seed)


def run_all(
    root: Path,
    todo: Sequence[Entry],
    *,
    threads: int,
    work: Path,
    timeout: float | None,
    command: Sequence[str],
) -> int:
    """Runs what is missing; gives the number of contestants that failed."""
    missing = [entry for entry in todo if not entry.is_done()]
    print(f"{len(todo) - len(missing)} of {len(todo)} results are there", file=sys.stderr, flush=True)
    pythons = {entry.contestant: python_for(entry.contestant, work / "venvs") for entry in missing}
    failed = 0
    for data, split in dict.fromkeys((entry.data, entry.split) for entry in missing):
        plan = Plan(
            contestants=(),
            source=Source(str((root / data.name).resolve()), split, data.fields),
            features={},
            settings={},
            threads=threads,
            seed=0,
            work=work,
            timeout=timeout,
            command=command,
            depth=DEPTH,
            validate=True,
        )
        folder = work / "runs" / f"all-{data.name}-{os.getpid()}"
        try:
            made = contest_data.prepare(plan.source, folder / "data", {}, texts=True)
            for entry in missing:
                if (entry.data, entry.split) != (data, split):
                    continue
                own = folder / f"{entry.contestant}-{entry.seed}"
                outcome = contest(
                    entry.runs_as, pythons[entry.contestant], own, made, replace(plan, seed=entry.seed)
                )
                failed += "error" in outcome
                _keep(entry, outcome | {"name": entry.contestant}, made.facts, plan)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return failed


def _keep(entry: Entry, outcome: dict[str, Any], facts: dict[str, Any], plan: Plan) -> None:
    result = {
        "format": results.FORMAT,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": list(plan.command),
        "asked": entry.asked(),
        "seed": entry.seed,
        "threads": plan.threads,
        "machine": machine(),
        "code": code(ROOT),
        "data": facts | {"split": entry.split, "splits": 1},
        "contestants": [outcome],
    }
    results.write(result, entry.path)
    if "error" in outcome:
        print(f"{entry.contestant}: {outcome['error']}", file=sys.stderr, flush=True)
        return
    metrics = outcome["metrics"]
    print(
        f"{entry.data.name} {entry.contestant} {entry.seed}: P@1 {metrics['P@1']:.2f}, PSP@5 "
        f"{metrics['PSP@5']:.2f}, {outcome['train_cpu_seconds']:.0f} s of training",
        flush=True,
    )
