"""One thread: these models are tiny, and threads that wait for each other would be most of the time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from longtail import threads
from longtail.systems.galaxc.system import Galaxc
from longtail.training.runtime import torch_threads
from tests.planted import Parts
from tests.systems.galaxc.worlds import settings


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with threads.limit(1), torch_threads():
        yield


@pytest.fixture(scope="session")
def trained(tiny: Parts) -> Galaxc:
    """A model of all modules; never to be changed."""
    with threads.limit(1), torch_threads():
        return Galaxc(**settings(epochs=8)).fit(tiny.train, valid=tiny.valid)


@pytest.fixture(scope="session")
def plain(tiny: Parts) -> Galaxc:
    """A model of the paper's classifiers, attention and shortlist; never to be changed."""
    with threads.limit(1), torch_threads():
        paper = {"node": False, "shrinkage": 0.0, "attention_init_scale": 1.0}
        return Galaxc(
            **settings(
                epochs=3,
                classifier=paper,
                graph={"include_initial": False},
                transform={"batch_norm": True, "unit": False},
                shortlist={"embedding": "transformed"},
            )
        ).fit(tiny.train)


@pytest.fixture(scope="session")
def saved(trained: Galaxc, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of ``trained``; never to be changed."""
    place = tmp_path_factory.mktemp("galaxc") / "model"
    trained.save(place)
    return place
