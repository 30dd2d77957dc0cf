"""How many threads the kernels use: set in one place, so that nothing oversubscribes the machine.

Results never depend on the number: every parallel loop writes to places of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from longtail.errors import UsageError


def available() -> int:
    """Cores that this process may use (a container's or taskset's limit counts, unlike ``os.cpu_count``)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def limit(jobs: int | None) -> Iterator[int]:
    """Run the numba kernels inside with ``jobs`` threads (None: all that are available)."""
    import numba

    if jobs is not None and jobs < 1:
        raise UsageError(f"jobs must be at least 1, not {jobs}")
    wanted = min(jobs or available(), numba.config.NUMBA_NUM_THREADS)
    before = numba.get_num_threads()
    numba.set_num_threads(wanted)
    try:
        yield wanted
    finally:
        numba.set_num_threads(before)
