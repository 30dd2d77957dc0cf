"""Runs of claims: one training per system, settings, sample and seed, kept as a JSON file and shared by claims."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import eclare_ablations, eclare_parts, galaxc_ablations, galaxc_attention
from benchmarks.claims.claim import Sample, Side
from benchmarks.machine import code, machine
from longtail.data import read_folder, warm_start
from longtail.systems import create
from longtail.systems.base import System
from longtail.systems.eclare.system import Eclare
from longtail.systems.galaxc.system import Galaxc
from longtail.types import Dataset, LabelSet

FOLDER = Path(__file__).parents[1] / "results" / "claims"
ROOT = Path(__file__).parents[2]
RANKS = (1, 3, 5, 10, 100)
RAREST = "P@5 of the rarest fifth"
RARE = "1-5"
"""Training documents of labels that count as rare beside the group of the most frequent ones."""


@dataclass(frozen=True, slots=True)
class Run:
    """One training."""

    side: Side
    configuration: str
    sample: Sample
    seed: int

    def asked(self) -> dict[str, Any]:
        """What the result depends on; sides that differ in the metric alone share a run."""
        settings = self.side.resolved(self.configuration)
        settings |= {"seed": self.seed, "fields": list(self.sample.fields), "calibrate": "none"}
        return {
            "system": self.side.system,
            "settings": settings,
            "sample": asdict(self.sample) | {"fields": list(self.sample.fields)},
            "warm_start": self.side.warm_start,
            "seed": self.seed,
        }

    @property
    def path(self) -> Path:
        """Where its result is: settings are a part of the name."""
        digest = hashlib.sha256(json.dumps(self.asked(), sort_keys=True).encode()).hexdigest()[:12]
        return FOLDER / self.sample.data / f"{self.side.system}-{digest}-{self.seed}.json"

    def result(self) -> dict[str, Any] | None:
        """The JSON file, if it was run."""
        return json.loads(self.path.read_text(encoding="utf-8")) if self.path.is_file() else None

    def metric(self) -> float | None:
        """The metric of the side, if it was run."""
        found = self.result()
        return None if found is None else found["metrics"].get(self.side.metric)


def drawn(parts: Mapping[str, Dataset], sample: Sample, seed: int) -> dict[str, Dataset]:
    """The documents of a sample, over the labels that they have."""
    random = np.random.default_rng(seed)
    some = {}
    for name, size in (("train", sample.train), ("valid", sample.valid), ("test", sample.test)):
        part = parts[name]
        some[name] = part.take(np.sort(random.permutation(len(part))[:size]))
    used = np.unique(np.concatenate([part.Y.indices for part in some.values()]))
    every = parts["train"].labels
    extra = None if every.extra is None else [every.extra[label] for label in used]
    labels = LabelSet([every.ids[label] for label in used], [every.texts[label] for label in used], extra)
    return {name: part.relabelled(labels) for name, part in some.items()}


def execute(run: Run, root: Path, command: list[str]) -> dict[str, Any]:
    """Trains, measures and writes the result."""
    parts = read_folder(root / run.sample.data, parts=("train", "valid", "test"))
    data = drawn(parts, run.sample, run.seed)
    train, test = data["train"], data["test"]
    if run.side.warm_start:
        revealed = warm_start.protocol(train, test, seed=run.seed, inductive=False)
        train, test = revealed.train, revealed.test
    asked = run.asked()
    model = create(run.side.system, asked["settings"])
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(train, valid=data["valid"] if model.capabilities.validation else None)
    spent = {"seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}
    result = {
        "command": command,
        "asked": asked,
        "configuration": run.configuration,
        "changed": list(run.side.settings),
        "machine": machine(),
        "code": code(ROOT),
        "labels": len(train.labels),
        **{name: round(value, 1) for name, value in spent.items()},
        "metrics": measured(model, train, test, warm=run.side.warm_start),
    }
    run.path.parent.mkdir(parents=True, exist_ok=True)
    run.path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return result


def measured(model: System, train: Dataset, test: Dataset, *, warm: bool = False) -> dict[str, float]:
    """Every metric that a claim may be about."""
    report = model.evaluate(test, k=RANKS)
    found = {name: metric["value"] for name, metric in report.metrics.items()}
    found[RAREST] = report.precision_parts["P@5"][0]
    if isinstance(model, Eclare):
        found |= _of_eclare(model, test)
    if isinstance(model, Galaxc) and not warm:
        found |= _of_galaxc(model, train, test)
    return {name: round(float(value), 4) for name, value in found.items()}


def _of_eclare(model: Eclare, test: Dataset) -> dict[str, float]:
    found = {}
    lost = eclare_ablations.lost_information(model, test)
    if lost != "-":
        found["LMI"] = float(lost)
    parts = model.models_[0].weights.parts
    names = eclare_parts.names_of(model.config.classifier)
    if model.config.classifier.combine == "attention" and "refinement" in names and parts is not None:
        by = eclare_parts.by_frequency(parts, model.label_counts_, names)
        share = np.array(by["weight"]["refinement"]) / np.sum(list(by["weight"].values()), axis=0)
        found["refinement in rare labels"] = 100 * share[by["groups"].index(RARE)]
        found["refinement in frequent labels"] = 100 * share[-1]
    return found


def _of_galaxc(model: Galaxc, train: Dataset, test: Dataset) -> dict[str, float]:
    found = {name: float(cell(model, test)) for name, cell in galaxc_ablations.MEASURES.items()}
    if model.config.classifier.attention and model.config.score != "ann":
        series = galaxc_attention.measured(model, train)["attention times length"]
        total = np.sum(list(series.values()), axis=0)
        for name, values in series.items():
            share = 100 * np.array(values) / total
            found[f"attention to {name} of rare labels"] = share[0]
            found[f"attention to {name} of frequent labels"] = share[-1]
    return found
