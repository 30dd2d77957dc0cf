"""One thread: these models are tiny, and threads that wait for each other would be most of the time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from longtail import threads
from longtail.systems.gnnxml.system import Gnnxml
from longtail.training.surroundings import torch_threads
from tests.planted import Parts
from tests.systems.gnnxml.worlds import settings


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with threads.limit(1), torch_threads():
        yield


@pytest.fixture(scope="session")
def learnt(tiny: Parts) -> Gnnxml:
    """A model of all parts with a linear tree beside it and a learnt score; never to be changed."""
    with threads.limit(1), torch_threads():
        return Gnnxml(**settings(linear=True)).fit(tiny.train, valid=tiny.valid)


@pytest.fixture(scope="session")
def plain(tiny: Parts) -> Gnnxml:
    """A model with the paper's score; never to be changed."""
    with threads.limit(1), torch_threads():
        return Gnnxml(**settings(score="product", match={"epochs": 8})).fit(tiny.train)


@pytest.fixture(scope="session")
def saved(learnt: Gnnxml, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of ``learnt``; never to be changed."""
    place = tmp_path_factory.mktemp("gnnxml") / "model"
    learnt.save(place)
    return place
