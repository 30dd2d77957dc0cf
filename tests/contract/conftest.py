"""Every system, trained once on planted data for all contracts."""

from typing import Any

import pytest

from longtail import threads
from longtail.systems import REGISTRY, create
from longtail.systems.base import System
from longtail.types import Dataset
from tests.contract.test_systems import CLOSE, FASTEST, TINY_ENCODER, with_encoder
from tests.planted import parts_of, planted
from tests.tiny_encoders import write_planted


@pytest.fixture(scope="session")
def data() -> dict[str, Dataset]:
    return parts_of(planted(n_documents=500, n_labels=40))._asdict()


@pytest.fixture(scope="session", params=sorted(REGISTRY))
def system(
    request: pytest.FixtureRequest, data: dict[str, Dataset], tmp_path_factory: pytest.TempPathFactory
) -> System:
    settings: Any = FASTEST.get(request.param, {})
    if TINY_ENCODER in repr(settings):
        folder = write_planted(tmp_path_factory.mktemp("encoder"), n_labels=40)
        settings = with_encoder(settings, str(folder))
    # A transformer as small as this one is slower with a second thread.
    with threads.limit(1 if request.param in CLOSE else None):
        return create(request.param, settings).fit(data["train"], valid=data["valid"])
