"""How many threads the kernels use: set in one place, so that nothing oversubscribes the machine.

Kernels release the GIL and are called from a pool of plain threads, one task a piece of work. That balances
uneven pieces, lets progress and Ctrl-C through between them, and is safe inside a server with threads of its
own. Results never depend on the number of threads: every task writes to places of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from longtail.errors import UsageError

T = TypeVar("T")
R = TypeVar("R")

_jobs: ContextVar[int | None] = ContextVar("jobs", default=None)


def available() -> int:
    """Cores that this process may use (a container's or taskset's limit counts, unlike ``os.cpu_count``)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def jobs() -> int:
    """The number of threads in force here."""
    return _jobs.get() or available()


def wait_without_spinning() -> None:
    """Let idle threads of OpenMP (torch) sleep at once; call it before torch is imported.

    They spin for a while otherwise, which on a machine with other work makes a training step several times
    slower. A user's own settings stay.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("KMP_BLOCKTIME", "0")


@contextmanager
def limit(number: int | None) -> Iterator[int]:
    """Run what is inside with ``number`` threads (None: as many as there are cores)."""
    if number is not None and number < 1:
        raise UsageError(f"jobs must be at least 1, not {number}")
    token = _jobs.set(number)
    try:
        yield jobs()
    finally:
        _jobs.reset(token)


def run_all(work: Callable[[T], R], tasks: Sequence[T], done: Callable[[T], None] | None = None) -> list[R]:
    """Call ``work`` on every task and return the results in the tasks' order.

    Start the large tasks first where sizes differ. ``done`` is called in this thread as tasks finish. An
    error or Ctrl-C drops the tasks that have not begun. A task that calls this itself has its share of the
    threads, so that nested calls stay within the limit together.
    """
    threads = min(jobs(), len(tasks))
    if threads <= 1:
        results = []
        for task in tasks:
            results.append(work(task))
            if done is not None:
                done(task)
        return results
    share = jobs() // threads

    def work_within_share(task: T) -> R:
        with limit(share):
            return work(task)

    pool = ThreadPoolExecutor(threads)
    try:
        futures = {pool.submit(work_within_share, task): task for task in tasks}
        for future in as_completed(futures):
            future.result()
            if done is not None:
                done(futures[future])
        return [future.result() for future in futures]
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def blocks(length: int, *, smallest: int) -> list[tuple[int, int]]:
    """Cut ``range(length)`` into a few pieces a thread, none below ``smallest`` (but the only or last one)."""
    size = max(smallest, -(-length // (4 * jobs())))
    return [(start, min(start + size, length)) for start in range(0, length, size)]
