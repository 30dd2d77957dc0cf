"""Small trained models, and one service of them that tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from longtail.serving.limits import Limits
from longtail.serving.registry import Registry
from longtail.serving.service import Service
from longtail.systems import create
from tests.planted import Parts
from tests.serving.running import Running, running


@pytest.fixture(scope="session")
def linear(tiny: Parts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A calibrated model of the system linear."""
    place = tmp_path_factory.mktemp("served") / "linear"
    create("linear").fit(tiny.train, valid=tiny.valid).save(place)
    return place


@pytest.fixture(scope="session")
def knn(tiny: Parts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that keeps its training documents."""
    place = tmp_path_factory.mktemp("served") / "knn"
    create("knn").fit(tiny.train).save(place)
    return place


@pytest.fixture(scope="session")
def registry(linear: Path, knn: Path) -> Registry:
    return Registry({"linear": linear, "near": knn}, jobs=1)


LIMITS = Limits(
    explanations=4, documents=20, characters=5000, k=40, queue=100, body_bytes=100_000, seconds=60
)


@pytest.fixture
def service(registry: Registry) -> Iterator[Service]:
    """A service of its own for a test; the models are shared."""
    made = Service(registry, LIMITS, jobs=1)
    yield made
    made.close()


@pytest.fixture(scope="session")
def served(registry: Registry) -> Iterator[Running]:
    """A running server for tests that change nothing."""
    with running(Service(registry, LIMITS, jobs=1), admin_token="a token of the tests") as server:
        yield server
