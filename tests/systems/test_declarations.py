"""Declarations of a system: settings that every system has, and what a model remembers of its training data."""

import pytest

from longtail.errors import ConfigError
from longtail.systems.declarations import Capabilities, SystemConfig, TrainingFacts


@pytest.mark.parametrize("fields", [(), ("title", "title"), ("body",)])
def test_fields_are_some_of_title_and_text(fields: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match="'fields' must be some of title, text"):
        SystemConfig(fields=fields)


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_has_32_bits(seed: int) -> None:
    with pytest.raises(ConfigError, match="'seed' must be from 0 to"):
        SystemConfig(seed=seed)


def test_nothing_is_declared_by_default() -> None:
    declared = Capabilities()
    assert not any(getattr(declared, name) for name in Capabilities.__slots__)
    assert TrainingFacts(3, "f").metrics == TrainingFacts(3, "f").reading == {}
