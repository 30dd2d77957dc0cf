"""One thread: these products are tiny, and threads that wait for each other would be most of the time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from longtail import threads
from longtail.training.runtime import torch_threads


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with threads.limit(1), torch_threads():
        yield
