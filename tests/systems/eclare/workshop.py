"""A training in which nothing is learnt: what each stage was given can be looked at."""

from __future__ import annotations

from typing import Any

import pytest

from longtail.systems.eclare import modules
from longtail.systems.eclare.folded import Folded
from longtail.systems.eclare.learning import learn_member
from longtail.systems.eclare.task import Classify
from tests.planted import Parts
from tests.systems.eclare.worlds import course_of


class Workshop:
    """A training in which nothing is learnt, and the tasks that it had."""

    def __init__(self, tiny: Parts, **other: Any) -> None:
        self.tasks: dict[str, Classify] = {}
        course = course_of(tiny, **other)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(modules, "train", self.keep)
            self.folded: Folded = learn_member(course, None)

    def keep(self, task: Classify, config: object, *, stage: str, **_: object) -> None:
        task.module.eval()
        self.tasks[stage] = task

    def __getitem__(self, stage: str) -> Classify:
        return self.tasks[stage]
