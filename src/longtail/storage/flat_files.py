"""Arrays and strings as flat files: written piece by piece, read by mapping them into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np

from longtail.errors import DataError
from longtail.lazy_strings import LazyStrings
from longtail.storage.atomic import output_errors

INT32, INT64, FLOAT32, BYTES = "<i4", "<i8", "<f4", "u1"


def mapped(path: Path, kind: str, size: int | None = None) -> np.ndarray:
    """The array in a file, which stays on the disk until it is used and cannot be written to.

    Args:
        size: how many numbers it must have.
    """
    item = np.dtype(kind).itemsize
    try:
        bytes_ = path.stat().st_size
        if bytes_ % item or (size is not None and bytes_ != size * item):
            wanted = "whole numbers" if size is None else f"{size * item:,} bytes"
            raise DataError(f"has {bytes_:,} bytes, not {wanted}: prepare the data again", path=path)
        # An empty file cannot be mapped.
        return np.memmap(path, kind, mode="r").view(np.ndarray) if bytes_ else np.empty(0, kind)
    except FileNotFoundError:
        raise DataError("is missing: prepare the data again", path=path) from None


class FlatWriter:
    """Appends to a file of numbers."""

    def __init__(self, handle: BinaryIO, kind: str) -> None:
        self._handle, self._kind = handle, kind
        self.size = 0

    def add(self, values: np.ndarray) -> None:
        """Write more numbers."""
        self._handle.write(np.ascontiguousarray(values, self._kind).data)
        self.size += len(values)


@contextmanager
def writing_flat(folder: Path, **kinds: str) -> Iterator[list[FlatWriter]]:
    """A writer for each file, by its name and kind of numbers."""
    with output_errors(folder), ExitStack() as stack:
        handles = [stack.enter_context((folder / name).open("wb")) for name in kinds]
        yield [FlatWriter(handle, kind) for handle, kind in zip(handles, kinds.values(), strict=True)]


class StringWriter:
    """Appends strings to two files: their bytes, and where each of them ends."""

    def __init__(self, letters: FlatWriter, ends: FlatWriter) -> None:
        self._letters, self._ends = letters, ends

    def add(self, strings: Sequence[str]) -> None:
        """Write more strings."""
        encoded = [text.encode("utf-8", "surrogatepass") for text in strings]
        ends = self._letters.size + np.cumsum([len(text) for text in encoded], dtype=np.int64)
        self._letters.add(np.frombuffer(b"".join(encoded), np.uint8))
        self._ends.add(ends)


def string_files(name: str) -> dict[str, str]:
    """The files of a column of strings, with their kinds."""
    return {f"{name}.utf8": BYTES, f"{name}.ends": INT64}


def mapped_strings(folder: Path, name: str, size: int) -> LazyStrings:
    """The strings that a ``StringWriter`` wrote, of which there must be ``size``."""
    letters_file, ends_file = string_files(name)
    ends = mapped(folder / ends_file, INT64, size)
    letters = mapped(folder / letters_file, BYTES, int(ends[-1]) if size else 0)

    def read(rows: np.ndarray) -> list[str]:
        starts = np.where(rows > 0, ends[rows - 1], 0).tolist()
        return [
            letters[start:end].tobytes().decode("utf-8", "surrogatepass")
            for start, end in zip(starts, ends[rows].tolist(), strict=True)
        ]

    return LazyStrings(size, read)
