"""Sparse matrices in scipy's .npz layout, read without trusting what the file says of itself."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

import numpy as np

from longtail.data import limits
from longtail.data.lines import naming_file
from longtail.errors import DataError

if TYPE_CHECKING:
    from scipy.sparse import csr_array


_UNPACKED_IN_STEPS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""What numpy writes; the other ways unpack a whole block at once, whatever its size."""


class _Stored(NamedTuple):
    format: np.ndarray
    shape: np.ndarray
    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray


def read_npz(path: Path) -> csr_array:
    """A sparse matrix; wrong pointers, indices out of range and values not finite are errors."""
    from scipy.sparse import csc_array, csr_array

    stored = _stored(path)
    layout = _layout(stored)
    shape = tuple(int(size) for size in stored.shape.reshape(-1)) if stored.shape.dtype.kind in "iu" else ()
    if layout not in ("csr", "csc") or len(shape) != 2 or min(shape) < 0:
        raise DataError(
            f"expected a matrix of compressed sparse rows, not {layout} of shape {shape}", path=path
        )
    tall, wide = shape if layout == "csr" else shape[::-1]
    data, indices, indptr = _checked(stored, tall, wide, shape, path)
    limits.check_columns(wide, len(indices), path, "columns" if layout == "csr" else "rows")
    filled = int(np.count_nonzero(indptr[1:] > indptr[:-1]))
    limits.check_blank(tall - filled, filled, path)
    kind = csr_array if layout == "csr" else csc_array
    matrix = csr_array(kind((data, indices, indptr), shape=shape))
    matrix.sum_duplicates()
    return matrix


def _stored(path: Path) -> _Stored:
    try:
        with naming_file(path), open(path, "rb") as handle, zipfile.ZipFile(handle) as packed:
            members = [packed.getinfo(f"{name}.npy") for name in _Stored._fields]
            if any(member.compress_type not in _UNPACKED_IN_STEPS for member in members):
                raise ValueError("it is compressed in another way than numpy does it")
            limits.check_unpacked(sum(member.file_size for member in members), handle.seek(0, 2), path)
            return _Stored(*(_array(packed, f"{name}.npy") for name in _Stored._fields))
    except (ValueError, KeyError, zipfile.BadZipFile, RuntimeError) as error:
        problem = " ".join(str(error).split())[:200]
        raise DataError(
            f"is not a sparse matrix as scipy saves them, without pickle ({problem})", path=path
        ) from None


def _array(packed: zipfile.ZipFile, name: str) -> np.ndarray:
    """One array, whose header must fit the bytes that follow it."""
    with packed.open(name) as member:
        handle = cast(BinaryIO, member)
        version = np.lib.format.read_magic(handle)
        read_header: Any = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = read_header(handle)
        if dtype.hasobject:
            raise ValueError(f"{name} has Python objects")
        # With a number, as else it unpacks what is there before it cuts it to the size that the file claims.
        content = member.read(packed.getinfo(name).file_size)
    expected = dtype.itemsize
    for length in shape:
        expected *= int(length)
    if len(shape) > 1 or expected != len(content):
        raise ValueError(f"{name} claims the shape {shape} of type {dtype}, but has {len(content):,} bytes")
    return np.frombuffer(content, dtype).reshape(shape)


def _layout(stored: _Stored) -> str:
    layout = stored.format.reshape(-1)[:1].tolist()
    name = layout[0] if layout else ""
    return name.decode("ascii", "replace") if isinstance(name, bytes) else str(name)


def _checked(
    stored: _Stored, tall: int, wide: int, shape: tuple[int, ...], path: Path
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    data, indices, indptr = stored.data, stored.indices, stored.indptr
    if data.dtype.kind not in "fiub" or any(array.dtype.kind not in "iu" for array in (indices, indptr)):
        raise DataError("the matrix is inconsistent (an array has another type than numbers)", path=path)
    if any(array.ndim != 1 for array in (data, indices, indptr)) or len(data) != len(indices):
        raise DataError("the matrix is inconsistent (its arrays have different lengths)", path=path)
    if len(indptr) != tall + 1:
        raise DataError(f"the matrix is inconsistent ({len(indptr):,} pointers, {tall:,} rows)", path=path)
    # Compared, not subtracted: the difference of two large numbers may overflow to a harmless one.
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any() or int(indptr[-1]) > len(indices):
        raise DataError(
            f"the matrix is inconsistent (its pointers must begin at 0, never fall and end at {len(indices):,})",
            path=path,
        )
    end = int(indptr[-1])
    data, indices = data[:end], indices[:end]
    if end and not (int(indices.min()) >= 0 and int(indices.max()) < wide):
        raise DataError(f"an index is outside of the matrix, which is {shape[0]} by {shape[1]}", path=path)
    with np.errstate(over="ignore"):
        values = data.astype(np.float32)
    if not np.isfinite(values).all():
        raise DataError("a value is not a finite number", path=path)
    width = np.int32 if max(wide, end) < 2**31 else np.int64
    return values, indices.astype(width), indptr.astype(width)
