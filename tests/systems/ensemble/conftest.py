"""One thread: these models are tiny, and threads that wait for each other would be most of the time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from longtail import threads
from longtail.systems.ensemble.system import Ensemble
from longtail.training.runtime import torch_threads
from tests.planted import Parts, parts_of, planted
from tests.systems.ensemble.worlds import LINEAR


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with threads.limit(1), torch_threads():
        yield


@pytest.fixture(scope="session")
def parts() -> Parts:
    """500 documents, so that there are 100 validation documents: enough to fit a re-ranker."""
    return parts_of(planted(n_documents=500, n_labels=40))


@pytest.fixture(scope="session")
def three(parts: Parts) -> Ensemble:
    """Members that train within a second, of which two have the same text settings; never to be changed."""
    with threads.limit(1):
        return Ensemble(members="linear,lexical,knn", linear=LINEAR).fit(parts.train, valid=parts.valid)


@pytest.fixture(scope="session")
def saved(three: Ensemble, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of ``three``; never to be changed."""
    place = tmp_path_factory.mktemp("ensemble") / "model"
    three.save(place)
    return place
