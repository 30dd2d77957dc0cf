"""One thread: these models are tiny, and threads that wait for each other would be most of the time."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from pathlib import Path

import pytest

from longtail import threads
from longtail.systems.galaxc.folded import Folded
from longtail.systems.galaxc.system import Galaxc
from longtail.training.surroundings import torch_threads
from tests.planted import Parts
from tests.systems.galaxc.worlds import settings


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with threads.limit(1), torch_threads():
        yield


@pytest.fixture(scope="session")
def learnt(tiny: Parts) -> Galaxc:
    """A model of all modules with a linear tree beside it and a learnt score; never to be changed."""
    with threads.limit(1), torch_threads():
        return Galaxc(**settings(epochs=3, linear=True)).fit(tiny.train, valid=tiny.valid)


@pytest.fixture(scope="session")
def plain(tiny: Parts) -> Galaxc:
    """A model of the paper's classifiers, attention and score; never to be changed."""
    with threads.limit(1), torch_threads():
        paper = {"node": False, "shrink": 0.0, "attention_start": 1.0}
        return Galaxc(
            **settings(
                epochs=3,
                classifier=paper,
                graph={"own": False},
                transform={"batch_norm": True, "unit": False},
                shortlist={"embedding": "transformed"},
                score="classifier",
            )
        ).fit(tiny.train)


@pytest.fixture(scope="session")
def saved(learnt: Galaxc, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of ``learnt``, with weights for known documents so that no array is empty; never to be changed."""
    place = tmp_path_factory.mktemp("galaxc") / "model"
    model, folded = copy(learnt), learnt.folded_
    weights = folded.weights
    full = replace(weights, known_weights=weights.warm_weights, known_start=weights.warm_start)
    model.folded_ = Folded(full, folded.space, folded.labels, folded.texts, learnt.config)
    model.save(place)
    return place
