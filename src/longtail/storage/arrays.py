"""Named arrays in one safetensors file: no code inside, the same arrays give the same bytes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson

from longtail.errors import ModelIntegrityError, UsageError
from longtail.storage.atomic import output_errors
from longtail.storage.listed_file import Reader, reading

_NAMES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "uint16": "U16",
    "int16": "I16",
    "float16": "F16",
    "uint32": "U32",
    "int32": "I32",
    "float32": "F32",
    "uint64": "U64",
    "int64": "I64",
    "float64": "F64",
}
_DTYPES = {code: np.dtype(f"<{np.dtype(name).str[1:]}") for name, code in _NAMES.items()}
_CHUNK = 64 * 2**20
MAX_HEADER_BYTES = 100 * 2**20
"""The largest table of arrays that is read."""


def write_arrays(path: str | Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write ``{name: array}`` as safetensors, straight from their memory: no second copy of a large matrix."""
    plain = {name: _little_endian(name, np.asarray(array), path) for name, array in arrays.items()}
    # Wide types first keeps every array aligned for reading in place; names make the order unique.
    order = sorted(plain, key=lambda name: (-plain[name].itemsize, name))
    header, offset = {}, 0
    for name in order:
        array = plain[name]
        header[name] = {
            "dtype": _NAMES[array.dtype.newbyteorder("=").name],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + array.nbytes],
        }
        offset += array.nbytes
    text = orjson.dumps(header)
    text += b" " * (-len(text) % 8)
    with output_errors(path):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with Path(path).open("wb") as handle:
            handle.write(len(text).to_bytes(8, "little") + text)
            for name in order:
                data = np.ascontiguousarray(plain[name]).reshape(-1).view(np.uint8)
                for start in range(0, len(data), _CHUNK):
                    handle.write(data[start : start + _CHUNK].data)


def read_arrays(path: str | Path, *, mmap: bool = False) -> dict[str, np.ndarray]:
    """The arrays of a safetensors file, which is opened once: what is checked is what is read.

    With ``mmap`` they stay on the disk, read-only, until they are used. A process that uses a mapped file after
    another one has shortened it ends with SIGBUS: map only files that nobody else writes.
    """
    with reading(path) as reader:
        if mmap:
            # Mapped from the same descriptor that was read for the check.
            reader.check()
            reader.handle.seek(0)
        start, header = _header(reader)
        if mmap:
            # An empty file cannot be mapped, but the header always has bytes.
            whole = np.memmap(reader.handle, np.uint8, mode="r").view(np.ndarray)
            return {
                name: whole[start + entry.start : start + entry.stop].view(entry.dtype).reshape(entry.shape)
                for name, entry in sorted(header.items())
            }
        arrays = {}
        # In the order of the file: it is read, and hashed, from the beginning to the end.
        for name, entry in sorted(header.items(), key=lambda item: (item[1].start, item[1].stop)):
            arrays[name] = np.empty(entry.shape, entry.dtype)
            if reader.readinto(arrays[name].reshape(-1).view(np.uint8).data) != entry.stop - entry.start:
                raise _unusable(path, "it was shortened while it was read")
    return dict(sorted(arrays.items()))


class _Entry(NamedTuple):
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int
    stop: int


def _header(reader: Reader) -> tuple[int, dict[str, _Entry]]:
    """Where the arrays begin, and what each is; together they fill the rest of the file without gap or overlap."""
    path, size = reader.path, reader.size
    length = int.from_bytes(reader.read(8), "little")
    if size < 8 or length > min(size - 8, MAX_HEADER_BYTES):
        raise _unusable(path, "its header does not fit into the file")
    try:
        found = orjson.loads(reader.read(length))
        if not isinstance(found, dict):
            raise ValueError("its header is not a table of arrays")
        found.pop("__metadata__", None)
        header = {name: _entry(name, entry) for name, entry in found.items()}
    except ValueError as error:
        raise _unusable(path, str(error)) from None
    at = 0
    for entry in sorted(header.values(), key=lambda entry: (entry.start, entry.stop)):
        if entry.start != at:
            raise _unusable(path, "its arrays overlap or leave a gap")
        at = entry.stop
    if at != size - 8 - length:
        raise _unusable(path, f"its arrays take {at:,} bytes, but it has {size - 8 - length:,}")
    return 8 + length, header


def _entry(name: str, entry: Any) -> _Entry:
    if not isinstance(entry, dict):
        raise ValueError(f"the array '{name}' is not described")
    described: dict[str, Any] = {key: entry.get(key) for key in ("dtype", "shape", "data_offsets")}
    kind, shape, offsets = described["dtype"], described["shape"], described["data_offsets"]
    if not isinstance(kind, str) or kind not in _DTYPES:
        raise ValueError(f"the array '{name}' has the type {kind!r}")
    if not (_whole_numbers(shape) and _whole_numbers(offsets) and len(offsets) == 2 and len(shape) <= 32):
        raise ValueError(f"the array '{name}' has a wrong shape or place")
    dtype, (start, stop) = _DTYPES[kind], offsets
    if math.prod(shape) * dtype.itemsize != stop - start:
        raise ValueError(f"the array '{name}' of shape {shape} does not have {stop - start:,} bytes")
    return _Entry(dtype, tuple(shape), start, stop)


def _whole_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int and 0 <= item < 2**62 for item in value)


def _unusable(path: str | Path, reason: str) -> ModelIntegrityError:
    return ModelIntegrityError(f"{path} is not a usable safetensors file: {reason}")


def _little_endian(name: str, array: np.ndarray, path: str | Path) -> np.ndarray:
    if not isinstance(name, str) or name == "__metadata__":
        raise UsageError(f"cannot write {path}: {name!r} cannot be the name of an array")
    if array.dtype.newbyteorder("=").name not in _NAMES:
        raise UsageError(f"cannot write {path}: the array '{name}' has the type {array.dtype}")
    return array.astype(array.dtype.newbyteorder("<"), copy=False)
