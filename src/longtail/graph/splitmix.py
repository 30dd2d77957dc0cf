"""Random numbers for kernels: a stream for each (seed, purpose, item), whoever draws it and in whatever order.

The generator is splitmix64 (Steele, Lea, Flood, OOPSLA 2014): a counter in steps of ``GOLDEN`` and a finaliser.
"""

from __future__ import annotations

import numpy as np

from longtail.kernels import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST_MIX = np.uint64(0xBF58476D1CE4E5B9)
_SECOND_MIX = np.uint64(0x94D049BB133111EB)


def seed_bits(seed: int) -> np.uint64:
    """Any whole number as the seed that kernels take."""
    return np.uint64(seed % 2**64)


@kernel
def mix(z: np.uint64) -> np.uint64:
    """The finaliser of splitmix64: 64 bits, each of which depends on all bits of z."""
    z = (z ^ (z >> np.uint64(30))) * _FIRST_MIX
    z = (z ^ (z >> np.uint64(27))) * _SECOND_MIX
    return z ^ (z >> np.uint64(31))


@kernel
def stream(seed: np.uint64, purpose: int, item: int) -> np.uint64:
    """The first state of a stream; add ``GOLDEN`` and ``mix`` for each number."""
    return mix(mix(mix(seed + GOLDEN) ^ np.uint64(purpose)) ^ np.uint64(item))


@kernel
def below(bits: np.uint64, limit: int) -> int:
    """A number in ``range(limit)``, limit below 2 ** 32, by the upper half of 64 random bits."""
    return int(np.int64(((bits >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32)))


@kernel
def share(bits: np.uint64) -> float:
    """A number in [0, 1) by 64 random bits."""
    return float((bits >> np.uint64(11)) * 2.0**-53)
