"""Deadlines: what is late, what is not, and how many timers there are."""

from __future__ import annotations

import asyncio

import pytest

from longtail.serving.deadlines import Deadlines, MovingDeadline


def test_futures_that_are_not_done_in_time_get_an_error_and_others_do_not() -> None:
    async def run() -> None:
        loop, deadlines = asyncio.get_running_loop(), Deadlines(0.1)
        done, late, later = (loop.create_future() for _ in range(3))
        deadlines.add(done)
        deadlines.add(late)
        done.set_result(1)
        await asyncio.sleep(0.05)
        deadlines.add(later)
        begun = loop.time()
        with pytest.raises(TimeoutError):
            await late
        assert loop.time() - begun < 0.09
        assert done.result() == 1
        assert not later.done()
        with pytest.raises(TimeoutError):
            await later

    asyncio.run(run())


def test_deadlines_of_a_closed_service_are_forgotten() -> None:
    async def run() -> None:
        deadlines, future = Deadlines(0.01), asyncio.get_running_loop().create_future()
        deadlines.add(future)
        deadlines.close()
        await asyncio.sleep(0.05)
        assert not future.done()

    asyncio.run(run())


def test_a_moving_deadline_is_over_once_and_only_if_it_is_not_taken_back() -> None:
    async def run() -> None:
        late: list[float] = []
        loop = asyncio.get_running_loop()
        deadline = MovingDeadline(loop, lambda: late.append(loop.time()))
        deadline.set(0.02)
        deadline.clear()
        await asyncio.sleep(0.05)
        assert not late
        # Later than before, then sooner.
        deadline.set(0.02)
        deadline.set(10)
        await asyncio.sleep(0.05)
        assert not late
        assert deadline.pending
        deadline.set(0.02)
        await asyncio.sleep(0.1)
        assert len(late) == 1
        assert not deadline.pending
        deadline.set(0.02)
        deadline.close()
        await asyncio.sleep(0.05)
        assert len(late) == 1

    asyncio.run(run())
