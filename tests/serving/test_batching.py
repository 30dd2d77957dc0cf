"""The queue: what shares a call, what is refused, what is left out, where the work is done, and how it ends."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from typing import Any

import pytest

from longtail import threads
from longtail.serving import batching
from longtail.serving.batching import ENOUGH_FOR_THREADS, LONGEST_WAIT, Batcher
from longtail.serving.problem import Problem


class Gate:
    """Work that notes its batches and waits until it may go on."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.entered, self.open = threading.Event(), threading.Event()

    def __call__(self, numbers: Sequence[int]) -> list[int]:
        self.batches.append(list(numbers))
        self.entered.set()
        assert self.open.wait(30)
        if any(number < 0 for number in numbers):
            raise ValueError("below 0")
        return [number * number for number in numbers]


async def held(gate: Gate, **options: int) -> Batcher[int, int]:
    """A batcher that works on a first request, so that others gather."""
    made = Batcher(gate, **{"batch": 8, "queue": 20, **options})
    made.submit("first", 1)
    assert await asyncio.to_thread(gate.entered.wait, 30)
    return made


def in_loop(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    @wraps(test)
    def run() -> None:
        asyncio.run(asyncio.wait_for(test(), 60))

    return run


@in_loop
async def test_requests_of_one_kind_share_a_call_and_each_gets_its_own_answer():
    gate = Gate()
    batcher = await held(gate)
    futures = [batcher.submit("even" if n % 2 == 0 else "odd", n) for n in range(2, 10)]
    assert batcher.depth == 8
    gate.open.set()
    assert await asyncio.gather(*futures) == [n * n for n in range(2, 10)]
    assert gate.batches == [[1], [2, 4, 6, 8], [3, 5, 7, 9]]
    assert batcher.depth == 0
    batcher.close()


@in_loop
async def test_requests_of_one_turn_of_the_loop_share_the_first_call():
    gate = Gate()
    gate.open.set()
    batcher = Batcher(gate, batch=8, queue=20)
    assert await asyncio.gather(*(batcher.submit("same", n) for n in (1, 2, 3))) == [1, 4, 9]
    assert gate.batches == [[1, 2, 3]]
    batcher.close()


@in_loop
async def test_a_batch_has_no_more_documents_than_it_may():
    gate = Gate()
    batcher = await held(gate, batch=5)
    futures = [batcher.submit("same", size, size) for size in (3, 3, 2, 9)]
    gate.open.set()
    assert await asyncio.gather(*futures) == [9, 9, 4, 81]
    assert gate.batches[1:] == [[3, 2], [3], [9]]
    batcher.close()


@in_loop
async def test_a_full_queue_refuses_and_says_when_to_come_back():
    gate = Gate()
    batcher = await held(gate, queue=10)
    waiting = batcher.submit("same", 1, 10)
    with pytest.raises(Problem, match="10 documents wait already") as caught:
        batcher.submit("same", 1)
    assert caught.value.status == 429
    assert 1 <= int(caught.value.headers["Retry-After"]) <= LONGEST_WAIT
    gate.open.set()
    await waiting
    batcher.close()


@in_loop
async def test_a_faulty_request_does_not_fail_its_neighbours():
    gate = Gate()
    batcher = await held(gate)
    futures = [batcher.submit("same", n) for n in (2, -1, 3)]
    gate.open.set()
    good, bad, other = await asyncio.gather(*futures, return_exceptions=True)
    assert (good, other) == (4, 9)
    assert isinstance(bad, ValueError)
    assert await batcher.submit("same", 5) == 25
    batcher.close()


@in_loop
async def test_a_request_that_was_given_up_is_not_worked_on_and_takes_no_room():
    gate = Gate()
    batcher = await held(gate)
    gone, there = batcher.submit("same", 2), batcher.submit("same", 3)
    assert gone.cancel()
    gate.open.set()
    assert await there == 9
    assert gate.batches[1:] == [[3]]
    assert batcher.depth == 0
    batcher.close()


@in_loop
async def test_closing_takes_nothing_more_and_gives_up_what_waits():
    gate = Gate()
    batcher = await held(gate)
    waiting = batcher.submit("same", 4)
    closing = asyncio.create_task(asyncio.to_thread(batcher.close))
    # Only then: the batch under way must not end before what waits is given up.
    while not waiting.cancelled():
        await asyncio.sleep(0.001)
    gate.open.set()
    await closing
    with pytest.raises(asyncio.CancelledError):
        await waiting
    with pytest.raises(Problem, match="shutting down") as caught:
        batcher.submit("same", 5)
    assert caught.value.status == 503


@in_loop
async def test_threads_are_limited_and_batches_observed():
    observed: list[tuple[int, int]] = []
    batcher: Batcher[int, int] = Batcher(
        lambda numbers: [threads.jobs() for _ in numbers],
        batch=4,
        queue=4,
        jobs=1,
        observe=lambda requests, documents: observed.append((requests, documents)),
    )
    assert await batcher.submit("same", 0, 3) == 1
    batcher.close()
    assert observed == [(1, 3)]


@in_loop
async def test_only_large_batches_use_several_threads():
    batcher: Batcher[int, int] = Batcher(
        lambda numbers: [threads.jobs() for _ in numbers], batch=4, queue=1000, jobs=3
    )
    assert await batcher.submit("same", 0, 5) == 1
    assert await batcher.submit("same", 0, ENOUGH_FOR_THREADS) == 3
    batcher.close()


@pytest.mark.parametrize(
    ("seconds", "quick", "here"), [(60.0, True, True), (60.0, False, False), (0.0, True, False)]
)
def test_what_is_quick_by_the_measured_speed_is_done_in_the_loop(monkeypatch, seconds, quick, here):
    async def where() -> list[int]:
        batcher: Batcher[int, int] = Batcher(
            lambda numbers: [threading.get_ident() for _ in numbers], batch=4, queue=10
        )
        found = [await batcher.submit("same", 0, quick=quick) for _ in range(3)]
        batcher.close()
        return found

    monkeypatch.setattr(batching, "IN_LOOP", seconds)
    first, *later = asyncio.run(where())
    # The speed is not known yet.
    assert first != threading.get_ident()
    assert [each == threading.get_ident() for each in later] == [here, here]


def test_one_slow_batch_does_not_send_the_next_ones_to_the_thread(monkeypatch):
    async def where() -> list[int]:
        def work(pauses: Sequence[float]) -> list[int]:
            time.sleep(pauses[0])
            return [threading.get_ident()]

        batcher: Batcher[float, int] = Batcher(work, batch=4, queue=10)
        found = [await batcher.submit("same", pause, quick=True) for pause in (0.0, 0.6, 0.0)]
        batcher.close()
        return found

    monkeypatch.setattr(batching, "IN_LOOP", 0.1)
    assert asyncio.run(where())[1:] == [threading.get_ident()] * 2
