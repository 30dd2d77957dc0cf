"""Integers as differences of neighbours, in as few bytes as each needs: pointers and sorted indices take about one.

A difference d is mapped to 2d or -2d - 1 (zigzag) and written in groups of 7 bits, the lowest first; the eighth bit
says that another group follows (the varint of Protocol Buffers).
"""

from __future__ import annotations

import numpy as np

from longtail.errors import ModelIntegrityError
from longtail.kernels import kernel

LONGEST = 10
"""Bytes per number at most: 64 bits in groups of 7."""


def encode(numbers: np.ndarray) -> np.ndarray:
    """Signed or unsigned integers [n] of at most 63 bits as bytes uint8."""
    return _encode(np.ascontiguousarray(numbers))


def decode(data: np.ndarray, dtype: np.dtype[np.integer]) -> np.ndarray:
    """What ``encode`` was given; bytes that are not such numbers, or do not fit the type, are an error."""
    if len(data) and data[-1] >= 128:
        raise ModelIntegrityError("it ends in the middle of a number")
    out = np.empty(np.count_nonzero(data < 128), dtype)
    bounds = np.iinfo(dtype)
    if not _decode(np.ascontiguousarray(data), int(bounds.min), int(bounds.max), out):
        raise ModelIntegrityError(f"it has a number that does not fit the type {np.dtype(dtype)}")
    return out


@kernel
def _encode(numbers: np.ndarray) -> np.ndarray:
    out = np.empty(max(16, 2 * len(numbers)), np.uint8)
    end, last = 0, np.int64(0)
    for i in range(len(numbers)):
        if end + LONGEST > len(out):
            wider = np.empty(2 * len(out), np.uint8)
            wider[:end] = out[:end]
            out = wider
        difference = np.int64(numbers[i]) - last
        last = np.int64(numbers[i])
        rest = np.uint64((difference << 1) ^ (difference >> 63))
        while rest >= 128:
            out[end] = np.uint8(rest & np.uint64(127)) | np.uint8(128)
            rest >>= np.uint64(7)
            end += 1
        out[end] = np.uint8(rest)
        end += 1
    return out[:end].copy()


@kernel
def _decode(data: np.ndarray, low: int, high: int, out: np.ndarray) -> bool:
    at, last = 0, np.int64(0)
    for i in range(len(out)):
        bits, shift = np.uint64(0), 0
        while data[at] >= 128:
            bits |= np.uint64(data[at] & 127) << np.uint64(shift)
            shift += 7
            at += 1
            if shift > 63:
                return False
        bits |= np.uint64(data[at]) << np.uint64(shift)
        at += 1
        last += np.int64(bits >> np.uint64(1)) ^ -np.int64(bits & np.uint64(1))
        if last < low or last > high:
            return False
        out[i] = last
    return True
