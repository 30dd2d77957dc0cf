"""One thread: these models are tiny, and threads that wait for each other would be most of the time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from longtail import threads
from longtail.systems.gnnxml.system import Gnnxml
from longtail.training.runtime import torch_threads
from tests.planted import Parts
from tests.systems.gnnxml.worlds import settings


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with threads.limit(1), torch_threads():
        yield


@pytest.fixture(scope="session")
def trained(tiny: Parts) -> Gnnxml:
    """A model of all parts; never to be changed."""
    with threads.limit(1), torch_threads():
        return Gnnxml(**settings(match={"epochs": 8})).fit(tiny.train, valid=tiny.valid)


@pytest.fixture(scope="session")
def saved(trained: Gnnxml, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of ``trained``; never to be changed."""
    place = tmp_path_factory.mktemp("gnnxml") / "model"
    trained.save(place)
    return place
