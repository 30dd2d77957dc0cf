"""The arrays of a model folder, declared once: name, type, symbolic shape, range; saved, loaded and checked here.

A dataclass that derives from :class:`ArraySet` declares each array as a field::

    @dataclass(frozen=True, slots=True, eq=False)
    class Weights(ArraySet):
        row_ptr: np.ndarray = array("int64", "rows + 1", pointer_into="entries")
        children: np.ndarray = array("int32", "entries", index_below="nodes")
        values: np.ndarray = array("float32", "entries", stored="float16")
        order: np.ndarray = array("int32", "rows", index_below="nodes", stored="deltas")

A symbol of a shape is bound by the caller or by the first array that has it, and must then hold for all others.
Loading checks every array before a kernel sees it: a manifest proves that a file is the one that was listed, not
that its arrays fit each other, and a compiled kernel follows a wrong index anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, Self, cast

import numpy as np

from longtail.errors import ModelIntegrityError
from longtail.storage import checks
from longtail.storage.arrays import read_arrays, write_arrays

_KEY = "array"
_DELTAS = "deltas"
_LARGEST_HALF = np.float32(np.finfo(np.float16).max)
_ROUNDED_AT_ONCE = 1 << 16


@dataclass(frozen=True, slots=True)
class Array:
    """One declared array.

    Attributes:
        dtype: of the array in memory.
        shape: a symbol, a symbol plus or minus a number (``rows + 1``) or a number per dimension.
        pointer_into: the symbol that a CSR pointer ends at; it starts at ``pointer_from`` and never falls.
        index_below: the symbol that indices stay below (they start at ``low``, 0 by default).
        low, high: the least and the greatest value; of floating-point numbers too.
        stored: how the array is on disk, where that is smaller. A floating-point type: values are rounded to it
            when the object is made, so that a model that was saved and loaded gives the same scores as before.
            ``deltas``: integers as the bytes of :mod:`longtail.storage.deltas`, without loss.
    """

    dtype: np.dtype[Any]
    shape: tuple[str | int, ...]
    pointer_into: str | None = None
    pointer_from: int = 0
    index_below: str | None = None
    low: float | None = None
    high: float | None = None
    stored: np.dtype[Any] | Literal["deltas"] | None = None


def array(dtype: str, *shape: str | int, stored: str | None = None, **checked: Any) -> Any:
    """Declare an array as the field of an :class:`ArraySet`; arguments are those of :class:`Array`."""
    form: Any = stored if stored is None or stored == _DELTAS else np.dtype(stored)
    return field(metadata={_KEY: Array(np.dtype(dtype), shape, stored=form, **checked)})


class ArraySet:
    """A frozen dataclass of declared arrays."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for name, declared in self.schema().items():
            if isinstance(declared.stored, np.dtype):
                object.__setattr__(self, name, _rounded(getattr(self, name), declared.stored))

    @classmethod
    def schema(cls) -> dict[str, Array]:
        """The declared arrays by name."""
        declared = fields(cast(Any, cls))
        return {item.name: item.metadata[_KEY] for item in declared if _KEY in item.metadata}

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays by name, as they are in memory."""
        return {name: getattr(self, name) for name in self.schema()}

    def save(self, path: Path) -> None:
        """Write one safetensors file."""
        write_arrays(
            path,
            {name: _on_disk(getattr(self, name), declared) for name, declared in self.schema().items()},
        )

    @classmethod
    def load(cls, path: Path, **sizes: int) -> Self:
        """Read and check what ``save`` wrote; ``sizes`` binds symbols that the caller knows."""
        return cls.from_arrays(read_arrays(path), path, **sizes)

    @classmethod
    def from_arrays(cls, found: Mapping[str, np.ndarray], path: Path, **sizes: int) -> Self:
        """The same from arrays that were read from ``path``."""
        with checks.of_file(path):
            arrays = checked(found, cls.schema(), sizes)
            loaded = cls(**arrays)
            for name, values in arrays.items():
                # What an older folder has in full precision is not rounded.
                object.__setattr__(loaded, name, values)
            loaded.check_relations()
        return loaded

    def check_relations(self) -> None:
        """Check what a declaration cannot say (that a list has no label twice, say); raise ModelIntegrityError."""


def load_arrays(path: Path, schema: Mapping[str, Array], **sizes: int) -> dict[str, np.ndarray]:
    """Read and check arrays whose names depend on settings, so that no dataclass can declare them."""
    found = read_arrays(path)
    with checks.of_file(path):
        return checked(found, schema, sizes)


def checked(
    found: Mapping[str, np.ndarray], schema: Mapping[str, Array], sizes: Mapping[str, int]
) -> dict[str, np.ndarray]:
    """The arrays in their types in memory; one that is missing, unknown or does not fit is an error."""
    _check_names(found, schema)
    # Kernels are compiled for writable arrays; a read-only one would make them compile anew.
    arrays = {
        name: np.require(_in_memory(name, found[name], declared), requirements=["C", "W", "A"])
        for name, declared in schema.items()
    }
    bound = bind(arrays, schema, sizes)
    for name, declared in schema.items():
        check_values(name, arrays[name], declared, bound)
    return arrays


def bind(
    arrays: Mapping[str, np.ndarray], schema: Mapping[str, Array], sizes: Mapping[str, int]
) -> dict[str, int]:
    """The value of every symbol; an array of another shape is an error."""
    bound = dict(sizes)
    # A symbol may be bound by a later array than the one that needs it: plain symbols come first.
    for name, declared in schema.items():
        shape = arrays[name].shape
        if len(shape) != len(declared.shape):
            raise ModelIntegrityError(f"{name} must have {len(declared.shape)} dimensions, not {len(shape)}")
        for size, wanted in zip(shape, declared.shape, strict=True):
            if isinstance(wanted, str) and wanted.isidentifier():
                bound.setdefault(wanted, size)
    for name, declared in schema.items():
        for size, wanted in zip(arrays[name].shape, declared.shape, strict=True):
            if isinstance(wanted, str) and not wanted.isidentifier():
                symbol, offset = _parsed(wanted)
                bound.setdefault(symbol, size - offset)
    for name, declared in schema.items():
        expected = tuple(_value(wanted, bound) for wanted in declared.shape)
        if arrays[name].shape != expected:
            raise ModelIntegrityError(f"{name} is {arrays[name].shape}, but must be {expected}")
    return bound


def check_values(name: str, found: np.ndarray, declared: Array, bound: Mapping[str, int]) -> None:
    """Pointers, indices, ranges and finiteness."""
    if declared.pointer_into is not None:
        checks.pointers(found, _value(declared.pointer_into, bound), name, start=declared.pointer_from)
    elif declared.index_below is not None:
        checks.within(found, int(declared.low or 0), _value(declared.index_below, bound), name)
    elif found.dtype.kind == "f":
        checks.finite(found, name)
    if declared.index_below is None and found.size:
        if declared.low is not None and found.min() < declared.low:
            raise ModelIntegrityError(f"{name} must be at least {declared.low}, not {found.min()}")
        if declared.high is not None and found.max() > declared.high:
            raise ModelIntegrityError(f"{name} must be at most {declared.high}, not {found.max()}")


def _check_names(found: Mapping[str, np.ndarray], schema: Mapping[str, Array]) -> None:
    missing = [name for name in schema if name not in found]
    if missing:
        raise ModelIntegrityError(f"the array '{missing[0]}' is missing")
    unknown = [name for name in found if name not in schema]
    if unknown:
        raise ModelIntegrityError(f"there is an array '{unknown[0]}' that this model does not have")


def _on_disk(values: np.ndarray, declared: Array) -> np.ndarray:
    """The array in its stored form; where that would change a value, it is stored as it is in memory."""
    values = values.astype(declared.dtype, copy=False)
    if declared.stored is None:
        return values
    if not isinstance(declared.stored, np.dtype):
        # Compiled kernels are needed only by those who save or load such arrays.
        from longtail.storage.deltas import encode

        return encode(values)
    narrow = _rounded(values, declared.stored).astype(declared.stored)
    return narrow if (narrow.astype(declared.dtype) == values).all() else values


def _in_memory(name: str, found: np.ndarray, declared: Array) -> np.ndarray:
    """The array in its type in memory; it may be stored in that one too, as older folders have it."""
    if declared.stored == _DELTAS and found.dtype == np.uint8 and found.ndim == 1:
        from longtail.storage.deltas import decode

        with checks.of_file(name):
            return decode(found, declared.dtype)
    half = declared.stored if isinstance(declared.stored, np.dtype) else declared.dtype
    if found.dtype not in (declared.dtype, half):
        raise ModelIntegrityError(f"{name} must be of type {declared.dtype}, not {found.dtype}")
    return found.astype(declared.dtype, copy=False)


def _rounded(found: np.ndarray, stored: np.dtype[Any]) -> np.ndarray:
    if stored.kind != "f":
        return found
    rounded = np.empty(found.shape, found.dtype)
    # Block by block: with many rows, what lies between would take the memory twice.
    for start in range(0, max(len(found), 1), _ROUNDED_AT_ONCE):
        rows = slice(start, start + _ROUNDED_AT_ONCE)
        rounded[rows] = np.clip(found[rows], -_LARGEST_HALF, _LARGEST_HALF).astype(stored)
    return rounded


def _parsed(expression: str) -> tuple[str, int]:
    symbol, sign, number = expression.split()
    return symbol, int(number) * (1 if sign == "+" else -1)


def _value(wanted: str | int, bound: Mapping[str, int]) -> int:
    if isinstance(wanted, int):
        return wanted
    if wanted.isidentifier():
        return bound[wanted]
    symbol, offset = _parsed(wanted)
    return bound[symbol] + offset
