"""Named arrays in one safetensors file: no code inside, the same arrays give the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from longtail.errors import ModelIntegrityError, UsageError
from longtail.storage.atomic import output_errors
from longtail.storage.jsonfile import open_regular

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
    """The arrays of a safetensors file; with ``mmap`` they stay on the disk, read-only, until they are used."""
    from safetensors import SafetensorError, safe_open

    open_regular(path).close()
    try:
        # The library checks the header: every offset inside the file, no gap, no overlap, sizes that fit.
        with safe_open(str(path), framework="np") as file:
            if not mmap:
                return {name: file.get_tensor(name) for name in sorted(file.keys())}
    except (SafetensorError, OSError, TypeError, ValueError, AttributeError, KeyError) as error:
        reason = str(error).strip() or type(error).__name__
        raise ModelIntegrityError(f"{path} is not a usable safetensors file: {reason}") from None
    return _map(path)


def _map(path: str | Path) -> dict[str, np.ndarray]:
    with open_regular(path) as handle:
        size = int.from_bytes(handle.read(8), "little")
        header: dict[str, Any] = orjson.loads(handle.read(size))
    header.pop("__metadata__", None)
    strange = next((name for name, entry in header.items() if entry["dtype"] not in _DTYPES), None)
    if strange is not None:
        raise ModelIntegrityError(f"{path}: the array '{strange}' has the type {header[strange]['dtype']}")
    whole = np.memmap(path, np.uint8, mode="r").view(np.ndarray)
    arrays = {}
    for name in sorted(header):
        entry = header[name]
        start, stop = entry["data_offsets"]
        arrays[name] = whole[8 + size + start : 8 + size + stop].view(_DTYPES[entry["dtype"]])
        arrays[name] = arrays[name].reshape(entry["shape"])
    return arrays


def _little_endian(name: str, array: np.ndarray, path: str | Path) -> np.ndarray:
    if not isinstance(name, str) or name == "__metadata__":
        raise UsageError(f"cannot write {path}: {name!r} cannot be the name of an array")
    if array.dtype.newbyteorder("=").name not in _NAMES:
        raise UsageError(f"cannot write {path}: the array '{name}' has the type {array.dtype}")
    return array.astype(array.dtype.newbyteorder("<"), copy=False)
