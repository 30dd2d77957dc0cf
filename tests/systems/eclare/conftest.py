"""One thread: these models are tiny, and threads that wait for each other would be most of the time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from longtail import threads
from longtail.systems.eclare.system import Eclare
from longtail.training.runtime import torch_threads
from tests.planted import Parts
from tests.systems.eclare.worlds import settings


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with threads.limit(1), torch_threads():
        yield


@pytest.fixture(scope="session")
def clustered(tiny: Parts) -> Eclare:
    """A model with clusters, trained with cross entropy, so that biases are not 0; never to be changed."""
    losses = {"meta_loss": "bce", "rank_loss": "bce"}
    with threads.limit(1), torch_threads():
        return Eclare(**settings(epochs=6, **losses)).fit(tiny.train, valid=tiny.valid)


@pytest.fixture(scope="session")
def exact(tiny: Parts) -> Eclare:
    """A model that ranks every label, with the paper's score; never to be changed."""
    with threads.limit(1), torch_threads():
        return Eclare(**settings(shortlist={"exact_below": 2000}, score="product")).fit(tiny.train)


@pytest.fixture(scope="session")
def saved(clustered: Eclare, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of ``clustered``; never to be changed."""
    place = tmp_path_factory.mktemp("eclare") / "model"
    clustered.save(place)
    return place
