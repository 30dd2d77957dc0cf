"""The fingerprint of a training changes with data, settings and system."""

from __future__ import annotations

from dataclasses import dataclass

from longtail.systems.base import SystemConfig
from longtail.training.fingerprint import fingerprint
from longtail.types import Dataset


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherConfig(SystemConfig):
    """The same settings of another system."""


def test_data_settings_and_system_are_part_of_it() -> None:
    train, other = (Dataset.from_texts(["a cat", "a dog"], tags) for tags in ([["x"], ["y"]], [["y"], ["x"]]))
    first = fingerprint(train, None, SystemConfig())
    assert fingerprint(train, None, SystemConfig()) == first
    for changed in (
        fingerprint(other, None, SystemConfig()),
        fingerprint(train, other, SystemConfig()),
        fingerprint(train, None, SystemConfig(seed=1)),
        fingerprint(train, None, OtherConfig()),
    ):
        assert changed != first
