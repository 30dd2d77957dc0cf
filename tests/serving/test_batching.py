"""The queue: what shares a call, what is refused, what is left out, and how it ends."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import CancelledError

import pytest

from longtail import threads
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


def held(gate: Gate, **options: int) -> tuple[Batcher[int, int], object]:
    """A batcher that works on a first request, so that others gather."""
    made = Batcher(gate, **{"batch": 8, "queue": 20, **options})
    first = made.submit("first", 1)
    assert gate.entered.wait(30)
    return made, first


def test_requests_of_one_kind_share_a_call_and_each_gets_its_own_answer():
    gate = Gate()
    batcher, _ = held(gate)
    futures = [batcher.submit("even" if n % 2 == 0 else "odd", n) for n in range(2, 10)]
    assert batcher.depth == 8
    gate.open.set()
    assert [future.result(30) for future in futures] == [n * n for n in range(2, 10)]
    assert gate.batches == [[1], [2, 4, 6, 8], [3, 5, 7, 9]]
    assert batcher.depth == 0
    batcher.close()


def test_a_batch_has_no_more_documents_than_it_may():
    gate = Gate()
    batcher, _ = held(gate, batch=5)
    futures = [batcher.submit("same", size, size) for size in (3, 3, 2, 9)]
    gate.open.set()
    assert [future.result(30) for future in futures] == [9, 9, 4, 81]
    assert gate.batches[1:] == [[3, 2], [3], [9]]
    batcher.close()


def test_a_full_queue_refuses_and_says_when_to_come_back():
    gate = Gate()
    batcher, _ = held(gate, queue=10)
    batcher.submit("same", 1, 10)
    with pytest.raises(Problem, match="10 documents wait already") as caught:
        batcher.submit("same", 1)
    assert caught.value.status == 429
    assert 1 <= int(caught.value.headers["Retry-After"]) <= LONGEST_WAIT
    gate.open.set()
    batcher.close()


def test_a_faulty_request_does_not_fail_its_neighbours():
    gate = Gate()
    batcher, _ = held(gate)
    futures = [batcher.submit("same", n) for n in (2, -1, 3)]
    gate.open.set()
    assert futures[0].result(30) == 4
    assert futures[2].result(30) == 9
    with pytest.raises(ValueError, match="below 0"):
        futures[1].result(30)
    assert batcher.submit("same", 5).result(30) == 25
    batcher.close()


def test_a_request_that_was_given_up_is_not_worked_on():
    gate = Gate()
    batcher, _ = held(gate)
    gone, there = batcher.submit("same", 2), batcher.submit("same", 3)
    assert gone.cancel()
    gate.open.set()
    assert there.result(30) == 9
    assert gate.batches[1:] == [[3]]
    with pytest.raises(CancelledError):
        gone.result()
    batcher.close()


def test_closing_answers_what_waits_and_takes_nothing_more():
    gate = Gate()
    batcher, _ = held(gate)
    waiting = batcher.submit("same", 4)
    closing = threading.Thread(target=batcher.close)
    closing.start()
    gate.open.set()
    closing.join(30)
    assert waiting.result(0) == 16
    with pytest.raises(Problem, match="shutting down") as caught:
        batcher.submit("same", 5)
    assert caught.value.status == 503


def test_threads_are_limited_and_batches_observed():
    observed: list[tuple[int, int]] = []
    batcher: Batcher[int, int] = Batcher(
        lambda numbers: [threads.jobs() for _ in numbers],
        batch=4,
        queue=4,
        jobs=1,
        observe=lambda requests, documents: observed.append((requests, documents)),
    )
    assert batcher.submit("same", 0, 3).result(30) == 1
    batcher.close()
    assert observed == [(1, 3)]


def test_only_large_batches_use_several_threads():
    batcher: Batcher[int, int] = Batcher(
        lambda numbers: [threads.jobs() for _ in numbers], batch=4, queue=1000, jobs=3
    )
    assert batcher.submit("same", 0, 5).result(30) == 1
    assert batcher.submit("same", 0, ENOUGH_FOR_THREADS).result(30) == 3
    batcher.close()
