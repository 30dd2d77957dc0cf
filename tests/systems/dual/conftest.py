"""What these tests share: one encoder's folder, one trained system, one thread."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from longtail import threads
from longtail.systems.dual.system import Dual
from tests.planted import Parts
from tests.systems.dual.worlds import settings
from tests.tiny_encoders import write_planted


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with threads.limit(1):
        yield


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that is never to be changed."""
    return write_planted(tmp_path_factory.mktemp("encoder"), 40)


@pytest.fixture(scope="session")
def trained(encoder: Path, tiny: Parts) -> Dual:
    """A system that is never to be changed."""
    with threads.limit(1):
        return Dual(**settings(encoder)).fit(tiny.train, valid=tiny.valid)
