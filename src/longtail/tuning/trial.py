"""One trial of a search: settings are trained on a growing share of the documents and measured at each size."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from longtail.config import merge
from longtail.data.hold_out import hold_out
from longtail.errors import UsageError
from longtail.run import Run
from longtail.systems import create
from longtail.systems.base import System
from longtail.tuning.space import nested
from longtail.types import Dataset

METRICS = ("overall", "P@1", "P@3", "P@5", "nDCG@5", "PSP@1", "PSP@3", "PSP@5", "R@10")
OVERALL = ("P@1", "P@5", "PSP@1", "PSP@5")
"""``overall`` is their mean, as in the training of neural systems: frequent and rare labels count alike."""

RATIO = 3
"""Documents of a step in relation to those of the step before."""

FEWEST = 2000
"""Documents of a part of the training data at least; smaller data are used as a whole."""

MOST_MEASURED = 5000
"""Documents that are measured on at most."""

FEWEST_VALIDATION = 20
"""Validation documents at least: half of them are measured on."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is searched on: a system with fixed settings, documents, and the metric.

    Attributes:
        valid: the half of the validation documents that a system may choose an epoch or fit a re-ranker on.
        measured: the other half, which no trial has for anything else.
    """

    system: str
    settings: Mapping[str, Any]
    train: Dataset
    valid: Dataset
    measured: Dataset
    metric: str
    seed: int

    @classmethod
    def of(
        cls,
        system: str,
        settings: Mapping[str, Any],
        train: Dataset,
        valid: Dataset | None,
        *,
        metric: str = "overall",
        seed: int = 0,
    ) -> Task:
        """Halve the validation documents; without any, some training documents take their place."""
        if metric not in METRICS:
            raise UsageError(
                f"there is no metric '{metric}' to search by: choose one of {', '.join(METRICS)}"
            )
        if valid is None or not len(valid):
            train, valid = hold_out(train, seed)
        valid = valid.relabelled(train.labels.extended(valid.labels.ids))
        if len(valid) < FEWEST_VALIDATION:
            raise UsageError(
                f"a search needs {FEWEST_VALIDATION} validation documents at least, there are {len(valid)}: "
                "divide the data with longtail split"
            )
        order = np.random.default_rng(seed).permutation(len(valid))
        half = len(valid) // 2
        measured = np.sort(order[half:][:MOST_MEASURED])
        return cls(
            system, settings, train, valid.take(np.sort(order[:half])), valid.take(measured), metric, seed
        )

    def with_changes(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """The fixed settings, and on top those of a trial by dotted name."""
        return merge(self.settings, nested(changes))

    def untrained(self, changes: Mapping[str, Any]) -> System:
        """The system of a trial; a calibration does not change the ranking, so there is none."""
        return create(self.system, {"calibrate": "none", **self.with_changes(changes)})

    def sizes(self) -> list[int]:
        """Training documents of each step, the last one all of them."""
        found = [len(self.train)]
        while found[0] // RATIO >= FEWEST and len(found) < 3:
            found.insert(0, found[0] // RATIO)
        return found

    def fingerprint(self) -> str:
        """Of all documents."""
        return "/".join(data.fingerprint() for data in (self.train, self.valid, self.measured))


class _TrialRun(Run):
    """Warnings are facts: those of a trial on some of the documents are not those of the data."""

    def warn(self, message: str) -> None:
        """Keep a sentence."""
        self.say(message)


@dataclass(frozen=True, slots=True)
class Measured:
    """The metric in percent with its 95 % interval, and the seconds that it took."""

    value: float
    low: float
    high: float
    seconds: float


def measure(task: Task, changes: Mapping[str, Any], documents: int) -> Measured:
    """Train on the first so many documents of a seeded order, and measure."""
    start = time.perf_counter()
    system = task.untrained(changes)
    train = task.train
    if documents < len(train):
        order = np.random.default_rng(task.seed).permutation(len(train))
        train = train.take(np.sort(order[:documents]))
    trained = system.fit(train, valid=task.valid, run=_TrialRun(), hold_out=False)
    report = trained.evaluate(task.measured, k=(1, 3, 5, 10))
    names = OVERALL if task.metric == "overall" else (task.metric,)
    found = [report.metrics[name] for name in names]
    mean = {key: float(np.mean([metric[key] for metric in found])) for key in ("value", "low", "high")}
    return Measured(**mean, seconds=time.perf_counter() - start)
