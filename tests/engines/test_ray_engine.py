from __future__ import annotations

import os
import signal
import time
from typing import Any

import pytest

from longtail import threads
from longtail.engines.ray_engine import AHEAD, RETRIES, RayEngine
from longtail.errors import EngineError, UsageError
from tests.engines.clusters import needs_ray, workers


def added(shared: int, part: int) -> int:
    return shared + part


def slowly(shared: float, part: int) -> tuple[int, int]:
    time.sleep(shared)
    return part, threads.jobs()


def refused(shared: str, part: int) -> None:
    raise UsageError(f"{shared} {part}")


def broken(shared: str, part: int) -> None:
    raise ValueError(f"{shared}\n{part}")


def lost(shared: int, part: int) -> None:
    os.kill(os.getpid(), shared)


@needs_ray
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_parts_on_a_cluster(ray: Any) -> None:
    engine, seen = RayEngine(ray), list[int]()
    assert engine.map(added, 10, [3, 1, 2], done=seen.append) == [13, 11, 12]
    assert seen == [3, 1, 2]
    assert list(engine.stream(added, 1, iter(range(3 * AHEAD)))) == [(n, n + 1) for n in range(3 * AHEAD)]
    with pytest.raises(UsageError, match="must not 1"):
        engine.map(refused, "must not", [1])
    with pytest.raises(EngineError, match=r"a worker of the Ray cluster failed: first$"):
        engine.map(broken, "first", [1])
    with pytest.raises(EngineError, match=f"were lost {RETRIES + 1} times"):
        engine.map(lost, int(signal.SIGKILL), [1])


@needs_ray
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_killed_worker_loses_no_part(ray: Any) -> None:
    engine, killed = RayEngine(ray), list[int]()

    def kill(_: int) -> None:
        if not killed and workers():
            killed.append(workers()[0])
            os.kill(killed[0], signal.SIGKILL)

    assert engine.map(slowly, 0.3, range(12), done=kill) == [(part, 1) for part in range(12)]
    assert killed
