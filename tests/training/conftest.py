"""One thread: these tasks are tiny, and threads that wait for each other would be most of the time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from longtail import threads


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with threads.limit(1):
        yield
