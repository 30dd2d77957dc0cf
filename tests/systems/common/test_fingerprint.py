"""What a training depends on."""

from __future__ import annotations

from longtail.systems.base import SystemConfig
from longtail.systems.common.fingerprint import fingerprint
from longtail.systems.linear import LinearTree
from longtail.types import Dataset


def test_data_settings_and_system_are_in_it() -> None:
    train, other = (Dataset.from_texts(["a cat", "a dog"], tags) for tags in ([["x"], ["y"]], [["y"], ["x"]]))
    first = fingerprint(train, None, SystemConfig())
    assert fingerprint(train, None, SystemConfig()) == first
    for changed in (
        fingerprint(other, None, SystemConfig()),
        fingerprint(train, other, SystemConfig()),
        fingerprint(train, None, SystemConfig(seed=1)),
        fingerprint(train, None, LinearTree.Config()),
    ):
        assert changed != first
