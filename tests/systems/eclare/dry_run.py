"""A training run in which no weight changes: what each stage was given can be inspected."""

from __future__ import annotations

from typing import Any

import pytest

from longtail.systems.eclare import context, train
from longtail.systems.eclare.model import Classify
from longtail.systems.eclare.predict import Weights
from tests.planted import Parts
from tests.systems.eclare.worlds import config_of, context_of


class DryRun:
    """The task of each stage, and the exported weights."""

    def __init__(self, data: Parts, **other: Any) -> None:
        self.tasks: dict[str, Classify] = {}
        self.config = config_of(**other)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(context, "run_stage", self.record)
            self.weights: Weights = train.train_model(context_of(data, **other))

    def record(self, task: Classify, config: object, *, stage: str, **_: object) -> None:
        task.module.eval()
        self.tasks[stage] = task

    def __getitem__(self, stage: str) -> Classify:
        return self.tasks[stage]
