"""Micro-batching: requests of all clients wait in one bounded queue and are worked on together.

A batch is under way or not. While it is, requests gather; then the first one and all others of its kind are
taken, up to the size of a batch. So a single client never waits for others, and many clients share the cost of
a call.

Everything but the work itself happens in the event loop. A batch that is expected to take no longer than
reading and writing a few requests is worked on there, too: handing it to a thread and back would take longer.
Any other batch is worked on by a thread, so that the loop stays free.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
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
IN_LOOP = 0.005
"""Seconds that a batch may take in the event loop, by the speed that was measured."""
SLOWER = 0.05
"""The share of a slower batch in the speed that decides where a batch is worked on; a faster one counts at once.

On a busy machine another process may take the core in the midst of a batch, which says nothing of the next one.
"""


@dataclass(slots=True, eq=False)
class _Job(Generic[P, R]):
    kind: Hashable
    size: int
    payload: P
    quick: bool
    answer: asyncio.Future[R]


class Batcher(Generic[P, R]):
    """A queue that is emptied batch by batch. Its methods are called in the event loop."""

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
        self._at_best = 0.0
        self._under_way = False
        self._closed = False
        self._batches: SimpleQueue[tuple[asyncio.AbstractEventLoop, list[_Job[P, R]]] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def depth(self) -> int:
        """Documents that wait."""
        return self._documents

    def submit(self, kind: Hashable, payload: P, size: int = 1, *, quick: bool = False) -> asyncio.Future[R]:
        """Queue a request; its kind says which others may be worked on in the same call.

        ``quick``: its documents take no longer than others of the measured speed.
        """
        if self._closed:
            raise Problem(503, "the service is shutting down", headers={"Connection": "close"})
        if self._documents + size > self._capacity:
            raise Problem(
                429,
                f"{self._documents:,} documents wait already, and the queue takes {self._capacity:,}: "
                "try again later",
                headers={"Retry-After": str(self.wait_in_seconds())},
            )
        loop = asyncio.get_running_loop()
        job: _Job[P, R] = _Job(kind, size, payload, quick, loop.create_future())
        self._waiting.append(job)
        self._documents += size
        if not self._under_way:
            self._under_way = True
            # Not at once: other requests that have come in this turn of the loop join the batch.
            loop.call_soon(self._start, loop)
        return job.answer

    def wait_in_seconds(self) -> int:
        """How long the documents that wait now will take, in whole seconds of at least 1."""
        return min(max(math.ceil(self._documents * self._per_document), 1), LONGEST_WAIT)

    def close(self) -> None:
        """Take no more requests; give up those that wait, and end the thread after the batch that is under way."""
        self._closed = True
        for job in self._waiting:
            job.answer.cancel()
        self._waiting.clear()
        self._documents = 0
        self._batches.put(None)
        self._thread.join()

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin the next batch, unless nothing waits."""
        jobs = self._next()
        if not jobs:
            self._under_way = False
            return
        size = sum(job.size for job in jobs)
        if 0 < size * self._at_best <= IN_LOOP and all(job.quick for job in jobs):
            self._finish(loop, jobs, *self._answers(jobs))
        else:
            self._batches.put((loop, jobs))

    def _next(self) -> list[_Job[P, R]]:
        """The first request that waits and others of its kind; none is left out that still wants its answer."""
        taken: list[_Job[P, R]] = []
        left: deque[_Job[P, R]] = deque()
        kind: Hashable = None
        room = 0
        for job in self._waiting:
            if job.answer.done():
                # It has been given up.
                self._documents -= job.size
            elif not taken or (job.kind == kind and job.size <= room):
                if not taken:
                    kind, room = job.kind, max(self._batch, job.size)
                taken.append(job)
                room -= job.size
                self._documents -= job.size
            else:
                left.append(job)
        self._waiting = left
        return taken

    def _run(self) -> None:
        """The thread: works on batches until it is told to end."""
        while (batch := self._batches.get()) is not None:
            loop, jobs = batch
            answers, taken = self._answers(jobs)
            try:
                loop.call_soon_threadsafe(self._finish, loop, jobs, answers, taken)
            except RuntimeError:
                # The loop was closed: nobody waits for the answers.
                self._under_way = False

    def _answers(self, jobs: list[_Job[P, R]]) -> tuple[list[R | BaseException], float]:
        """The answers, or errors in their places, and the seconds that a document took."""
        size = sum(job.size for job in jobs)
        start = time.perf_counter()
        try:
            with threads.limit(self._jobs if size >= ENOUGH_FOR_THREADS else 1):
                answers: list[R | BaseException] = [*self._work([job.payload for job in jobs])]
        except BaseException as error:
            if len(jobs) == 1:
                return [error], 0.0
            # One request may be at fault: its neighbours get their answers all the same.
            return [self._answers([job])[0][0] for job in jobs], 0.0
        return answers, (time.perf_counter() - start) / max(size, 1)

    def _finish(
        self,
        loop: asyncio.AbstractEventLoop,
        jobs: list[_Job[P, R]],
        answers: list[R | BaseException],
        taken: float,
    ) -> None:
        """Give the answers, and begin the next batch."""
        if taken:
            self._per_document += SMOOTHING * (taken - self._per_document) if self._per_document else taken
            slower = self._at_best + SLOWER * (taken - self._at_best)
            self._at_best = min(taken, slower) if self._at_best else taken
        if self._observe is not None:
            self._observe(len(jobs), sum(job.size for job in jobs))
        for job, answer in zip(jobs, answers, strict=True):
            if job.answer.done():
                continue
            if isinstance(answer, BaseException):
                job.answer.set_exception(answer)
            else:
                job.answer.set_result(answer)
        # Not at once either: the loop reads what has come meanwhile, so that it joins the next batch.
        loop.call_soon(self._start, loop)
