"""Shared fixtures: the folder of an encoder, a trained system, one thread."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from longtail import threads
from longtail.systems.gudn.system import Gudn
from tests.planted import Parts
from tests.systems.gudn.worlds import config
from tests.tiny_encoders import write_syllables


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with threads.limit(1):
        yield


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that no test changes."""
    return write_syllables(tmp_path_factory.mktemp("syllables"))


@pytest.fixture(scope="session")
def trained(encoder: Path, tiny: Parts) -> Gudn:
    """A system that no test changes."""
    with threads.limit(1):
        return Gudn(config(encoder)).fit(tiny.train, valid=tiny.valid)
