"""Micro-batching: requests of all clients wait in one bounded queue and are worked on together.

One thread works. While it works, requests gather; then it takes the first one and all others of the same kind, up
to the size of a batch. So a single client never waits for others, and many clients share the cost of a call.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from longtail import threads
from longtail.serving.problem import Problem

P = TypeVar("P")
R = TypeVar("R")

LONGEST_WAIT = 60
"""Seconds that Retry-After says at most."""
ENOUGH_FOR_THREADS = 256
"""From so many documents on, kernels use several threads; for fewer, starting them takes longer than it saves."""
SMOOTHING = 0.2
"""The share of the newest batch in the measured speed."""


@dataclass(slots=True, eq=False)
class _Job(Generic[P, R]):
    kind: Hashable
    size: int
    payload: P
    answer: Future[R] = field(default_factory=Future)


class Batcher(Generic[P, R]):
    """A queue and the thread that empties it."""

    def __init__(
        self,
        work: Callable[[Sequence[P]], Sequence[R]],
        *,
        batch: int,
        queue: int,
        jobs: int | None = None,
        name: str = "batcher",
        observe: Callable[[int, int], None] | None = None,
    ) -> None:
        """``work`` takes requests of one kind and returns their answers.

        Args:
            batch: the most documents that are worked on together (a larger request is worked on alone).
            queue: the most documents that wait.
            jobs: threads of the kernels.
            observe: is told the requests and documents of each batch.
        """
        self._work, self._batch, self._capacity, self._jobs = work, batch, queue, jobs
        self._observe = observe
        self._waiting: deque[_Job[P, R]] = deque()
        self._documents = 0
        self._per_document = 0.0
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def depth(self) -> int:
        """Documents that wait."""
        return self._documents

    def submit(self, kind: Hashable, payload: P, size: int = 1) -> Future[R]:
        """Queue a request; its kind says which others may be worked on in the same call."""
        job: _Job[P, R] = _Job(kind, size, payload)
        with self._changed:
            if self._closed:
                raise Problem(503, "the service is shutting down", headers={"Connection": "close"})
            if self._documents + size > self._capacity:
                raise Problem(
                    429,
                    f"{self._documents:,} documents wait already, and the queue takes {self._capacity:,}: "
                    "try again later",
                    headers={"Retry-After": str(self.wait_in_seconds())},
                )
            self._waiting.append(job)
            self._documents += size
            self._changed.notify()
        return job.answer

    def wait_in_seconds(self) -> int:
        """How long the documents that wait now will take, in whole seconds of at least 1."""
        return min(max(math.ceil(self._documents * self._per_document), 1), LONGEST_WAIT)

    def close(self) -> None:
        """Take no more requests, work on those that wait, and end the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        with threads.limit(self._jobs):
            while True:
                jobs = self._next()
                if jobs is None:
                    return
                self._answer(jobs)

    def _next(self) -> list[_Job[P, R]] | None:
        """The first request that waits and others of its kind; None when the queue is closed and empty."""
        with self._changed:
            while not self._waiting and not self._closed:
                self._changed.wait()
            if not self._waiting:
                return None
            first = self._waiting[0]
            taken: list[_Job[P, R]] = []
            left: deque[_Job[P, R]] = deque()
            room = max(self._batch, first.size)
            for job in self._waiting:
                if job.kind == first.kind and job.size <= room:
                    taken.append(job)
                    room -= job.size
                else:
                    left.append(job)
            self._waiting = left
            self._documents -= sum(job.size for job in taken)
        # A request that timed out has been cancelled; the others cannot be any more.
        return [job for job in taken if job.answer.set_running_or_notify_cancel()]

    def _answer(self, jobs: list[_Job[P, R]]) -> None:
        if not jobs:
            return
        size = sum(job.size for job in jobs)
        if self._observe is not None:
            self._observe(len(jobs), size)
        start = time.perf_counter()
        try:
            with nullcontext() if size >= ENOUGH_FOR_THREADS else threads.limit(1):
                answers = self._work([job.payload for job in jobs])
        except BaseException as error:
            if len(jobs) == 1:
                jobs[0].answer.set_exception(error)
            else:
                # One request may be at fault: its neighbours get their answers all the same.
                for job in jobs:
                    self._answer([job])
            return
        taken = (time.perf_counter() - start) / max(size, 1)
        self._per_document += SMOOTHING * (taken - self._per_document) if self._per_document else taken
        for job, answer in zip(jobs, answers, strict=True):
            job.answer.set_result(answer)
