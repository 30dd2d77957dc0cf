"""What a kernel relies on, checked of arrays that were read from a folder: type, form, range, finiteness.

A manifest proves that a file is the one that was listed, not that its arrays fit each other, and a compiled
kernel follows a wrong index anywhere. Each check returns its array, or raises one sentence that begins with
``what``, the name of the part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from longtail.errors import ModelIntegrityError


@contextmanager
def of_file(path: str | Path) -> Iterator[None]:
    """Put the file that the arrays are from in front of what a check in the block says."""
    try:
        yield
    except ModelIntegrityError as error:
        raise ModelIntegrityError(f"{path}: {error}") from None


def named(arrays: Mapping[str, np.ndarray], name: str, what: str) -> np.ndarray:
    """The array of that name."""
    if name not in arrays:
        raise ModelIntegrityError(f"{what} is missing: there is no array '{name}'")
    return arrays[name]


def vector(array: np.ndarray, dtype: DTypeLike, what: str, *, size: int | None = None) -> np.ndarray:
    """A one-dimensional array of exactly this type and, if ``size`` is given, this length."""
    if array.ndim != 1:
        raise ModelIntegrityError(f"{what} must be one row of numbers, not an array of shape {array.shape}")
    if array.dtype != np.dtype(dtype):
        raise ModelIntegrityError(f"{what} must be of type {np.dtype(dtype)}, not {array.dtype}")
    if size is not None and len(array) != size:
        raise ModelIntegrityError(f"{what} must have {size:,} numbers, not {len(array):,}")
    return array


def pointers(
    array: np.ndarray, end: int, what: str, *, rows: int | None = None, start: int = 0
) -> np.ndarray:
    """Signed integers where rows begin: from ``start`` to ``end``, never falling, one more than ``rows``."""
    if array.ndim != 1 or array.dtype.kind != "i":
        raise ModelIntegrityError(
            f"{what} must be one row of integers, not {array.dtype} of shape {array.shape}"
        )
    if rows is not None and len(array) != rows + 1:
        raise ModelIntegrityError(f"{what} must have {rows + 1:,} numbers, not {len(array):,}")
    # Compared, not subtracted: the difference of two large numbers may overflow to a harmless one.
    if len(array) == 0 or array[0] != start or int(array[-1]) != end or bool((array[1:] < array[:-1]).any()):
        raise ModelIntegrityError(f"{what} must begin at {start}, never fall and end at {end:,}")
    return array


def within(array: np.ndarray, low: int, high: int, what: str) -> np.ndarray:
    """Integers from ``low`` up to, but not, ``high``."""
    if array.dtype.kind not in "iu":
        raise ModelIntegrityError(f"{what} must be integers, not {array.dtype}")
    if array.size and (int(array.min()) < low or int(array.max()) >= high):
        raise ModelIntegrityError(
            f"{what} must be from {low:,} to {high - 1:,}, "
            f"but there are numbers from {int(array.min()):,} to {int(array.max()):,}"
        )
    return array


def finite(array: np.ndarray, what: str) -> np.ndarray:
    """Floating-point numbers, none of them infinite or NaN."""
    if array.dtype.kind != "f":
        raise ModelIntegrityError(f"{what} must be floating-point numbers, not {array.dtype}")
    # The least and the largest are enough, as NaN spreads to both: no array of answers is made.
    if array.size and not (np.isfinite(array.min()) and np.isfinite(array.max())):
        raise ModelIntegrityError(f"{what} must be finite, but a number in it is not")
    return array
