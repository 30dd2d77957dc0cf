"""The speed of this machine relative to the one that the cost of training was measured on: a short probe.

And whether its processor has instructions for products of bfloat16, without a question to torch.
"""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

import numpy as np

REFERENCE_SECONDS = 0.00125
"""What the probe takes on a machine of relative speed 1. On the machine that the cost was measured on it takes 0.7
times as long, in the middle of a step of ``relative_speed``, so that every run there comes to the same choice."""

PROCESSOR = Path("/proc/cpuinfo")
"""What Linux says of the processor; on other systems the instructions are not looked for."""

RUNS = 21
"""The shortest of so many runs counts. On a busy machine it varies by a factor of 1.5, and the median by 3.4."""


def probe_seconds() -> float:
    """Processor seconds of a product of a sparse and a dense matrix: the shortest of a few runs."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    columns = rng.integers(0, 20_000, 100_000).astype(np.int32)
    values, ends = np.ones(len(columns), np.float32), np.arange(0, len(columns) + 1, 50)
    sparse = csr_array((values, columns, ends), shape=(len(ends) - 1, 20_000))
    dense = rng.standard_normal((20_000, 64)).astype(np.float32)
    seconds = []
    for _ in range(RUNS):
        start = time.thread_time()
        sparse @ dense
        seconds.append(time.thread_time() - start)
    return min(seconds)


def relative_speed(seconds: float) -> float:
    """The speed of a machine on which the probe takes so long, as a power of the square root of 2.

    It is that coarse so that two runs on one machine come to the same choice.
    """
    steps = round(2 * float(np.log2(_within_bounds(REFERENCE_SECONDS / seconds))))
    return float(2 ** (steps / 2))


@cache
def exact_speed_here() -> float:
    """The relative speed of this machine as it is now, measured once per process."""
    return _within_bounds(REFERENCE_SECONDS / probe_seconds())


@cache
def speed_here() -> float:
    """The relative speed of this machine, for choices."""
    return relative_speed(REFERENCE_SECONDS / exact_speed_here())


def _within_bounds(speed: float) -> float:
    return min(max(speed, 1 / 16), 16.0)


def multiplies_bfloat16(processor: Path = PROCESSOR) -> bool:
    """Whether the processor multiplies matrices of bfloat16 by instructions of its own."""
    try:
        flags = processor.read_text(encoding="utf-8", errors="replace").split()
    except OSError:
        return False
    return not {"avx512_bf16", "amx_bf16"}.isdisjoint(flags)
