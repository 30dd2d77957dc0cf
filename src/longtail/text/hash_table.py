"""A table from 64-bit keys to the numbers 0, 1, 2, ... in the order in which the keys first came.

Keys lie densely in that order, and an open-addressed array of slots points at them: what is saved is only the
keys, and the same keys in the same order give the same table on every machine and with any number of threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from longtail.errors import ModelIntegrityError
from longtail.kernels import kernel
from longtail.storage.checks import named, vector

NO_KEY = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
"""Stands for "nothing here": never found, never added."""

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


class HashTable:
    """Numbers for 64-bit keys; ``keys`` and ``slots`` are handed to kernels that look keys up themselves."""

    def __init__(self, keys: np.ndarray | None = None) -> None:
        self.size = 0
        self.keys = np.empty(64, np.uint64)
        self.slots = np.full(128, -1, np.int32)
        if keys is not None:
            self.add(np.array(keys, np.uint64))

    def __len__(self) -> int:
        return self.size

    def find(self, keys: np.ndarray) -> np.ndarray:
        """The number of each key, -1 where it is unknown; int32."""
        return _find_all(keys, self.slots, self.keys)

    def add(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The number of each key, unknown ones being added, and where in ``keys`` each new one first came."""
        numbers = self.find(keys)
        missing = np.flatnonzero(numbers < 0)
        if len(missing) == 0:
            return numbers, missing
        self._reserve(self.size + len(missing))
        firsts = _add_missing(keys, missing, numbers, self.slots, self.keys, self.size)
        self.size += len(firsts)
        return numbers, firsts

    def dense_keys(self) -> np.ndarray:
        """The keys in the order of their numbers."""
        return self.keys[: self.size].copy()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], name: str) -> Self:
        """The table of saved keys; each must be there once, or all numbers after it would be others."""
        keys = vector(named(arrays, name, f"'{name}'"), np.uint64, f"'{name}'")
        table = cls(keys)
        if len(table) != len(keys):
            raise ModelIntegrityError(f"'{name}' must hold each key once, and never the one for no key")
        return table

    def _reserve(self, size: int) -> None:
        if size > len(self.keys):
            keys = np.empty(max(size, 2 * len(self.keys)), np.uint64)
            keys[: self.size] = self.keys[: self.size]
            self.keys = keys
        if 2 * size > len(self.slots):
            self.slots = np.full(1 << (2 * size - 1).bit_length(), -1, np.int32)
            _fill_slots(self.slots, self.keys, self.size)


@kernel
def find_slot(key: np.uint64, slots: np.ndarray, keys: np.ndarray) -> np.int64:
    """The slot that points at ``key``, or the empty one where it would go."""
    mask = len(slots) - 1
    mixed = (key ^ (key >> _HALF)) * _MULTIPLIER
    at = np.int64(mixed >> _HALF) & mask
    while slots[at] >= 0 and keys[slots[at]] != key:
        at = (at + 1) & mask
    return at


@kernel
def find_key(key: np.uint64, slots: np.ndarray, keys: np.ndarray) -> Any:
    """The number of ``key``, or -1."""
    return slots[find_slot(key, slots, keys)]


@kernel
def _find_all(wanted: np.ndarray, slots: np.ndarray, keys: np.ndarray) -> np.ndarray:
    numbers = np.empty(len(wanted), np.int32)
    for i in range(len(wanted)):
        numbers[i] = -1 if wanted[i] == NO_KEY else find_key(wanted[i], slots, keys)
    return numbers


@kernel
def _add_missing(
    wanted: np.ndarray,
    missing: np.ndarray,
    numbers: np.ndarray,
    slots: np.ndarray,
    keys: np.ndarray,
    size: int,
) -> np.ndarray:
    firsts = np.empty(len(missing), np.int64)
    found = 0
    for i in missing:
        if wanted[i] == NO_KEY:
            continue
        at = find_slot(wanted[i], slots, keys)
        if slots[at] < 0:
            slots[at] = size + found
            keys[size + found] = wanted[i]
            firsts[found] = i
            found += 1
        numbers[i] = slots[at]
    return firsts[:found].copy()


@kernel
def _fill_slots(slots: np.ndarray, keys: np.ndarray, size: int) -> None:
    for number in range(size):
        slots[find_slot(keys[number], slots, keys)] = number
