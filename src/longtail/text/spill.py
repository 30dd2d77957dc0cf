"""Counts and rows of texts on the disk: terms of documents are learned with memory for some of them at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from longtail.storage.flat_files import FLOAT32, INT32, INT64, mapped, writing_flat
from longtail.storage.sparse import sorted_csr
from longtail.text.counting import Counts
from longtail.text.stacking import narrow

ROWS = "rows"
"""The name of the rows of documents."""
ROWS_AT_ONCE = 8192


class KeptCounts(Protocol):
    """The counts of a chunk of documents, per group of columns."""

    def given(self) -> list[Counts]:
        """The counts, which are asked for once."""


class InMemory:
    """Counts as they are."""

    def __init__(self, counts: list[Counts]) -> None:
        self._counts = counts

    def given(self) -> list[Counts]:
        """The counts; afterwards they are gone."""
        counts, self._counts = self._counts, []
        return counts


class OnDisk:
    """Counts in a file, one array after another."""

    def __init__(self, path: Path, start: int, sizes: list[int]) -> None:
        self._path, self._start, self._sizes = path, start, sizes

    def given(self) -> list[Counts]:
        """The counts, read from the file."""
        with self._path.open("rb") as handle:
            handle.seek(self._start)
            whole = np.fromfile(handle, INT32, sum(self._sizes))
        parts = np.split(whole, np.cumsum(self._sizes)[:-1])
        return [
            Counts(parts[i].astype(np.int64), parts[i + 1], parts[i + 2]) for i in range(0, len(parts), 3)
        ]


class Spill:
    """Keeps counts and rows in files of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._counts = folder / "counts"
        self._counts.unlink(missing_ok=True)

    def keep(self, counts: list[Counts]) -> OnDisk:
        """Write the counts of a chunk."""
        arrays = [array for one in counts for array in (one.indptr, one.numbers, one.counts)]
        with self._counts.open("ab") as handle:
            start = handle.tell()
            for array in arrays:
                # A chunk has about a million characters, so that its offsets fit.
                handle.write(np.ascontiguousarray(array, INT32).data)
        return OnDisk(self._counts, start, [len(array) for array in arrays])

    def stack(self, parts: Iterable[csr_array], n_columns: int, name: str) -> csr_array:
        """The rows of all parts, one after another in files and mapped from them."""
        kinds = row_files(name)
        with writing_flat(self.folder, **kinds) as (indptr, indices, data):
            indptr.add(np.zeros(1, np.int64))
            for part in parts:
                indptr.add(data.size + part.indptr[1:].astype(np.int64))
                indices.add(part.indices)
                data.add(part.data)
        return mapped_rows(self.folder, n_columns, name)

    def tidy(self) -> None:
        """Remove everything but the rows of documents."""
        for path in self.folder.iterdir():
            if path.name == self._counts.name or path.name in {*row_files("titles"), *row_files("texts")}:
                path.unlink()


def row_files(name: str = ROWS) -> dict[str, str]:
    """The files of sparse rows, with their kinds."""
    return {f"{name}.indptr": INT64, f"{name}.indices": INT32, f"{name}.data": FLOAT32}


def mapped_rows(folder: Path, n_columns: int, name: str = ROWS) -> csr_array:
    """Sparse rows in files, of which only the offsets are in memory."""
    files = list(row_files(name))
    indptr = np.array(mapped(folder / files[0], INT64))
    entries = int(indptr[-1])
    indices = mapped(folder / files[1], INT32, entries)
    data = mapped(folder / files[2], FLOAT32, entries)
    return sorted_csr(data, indices, narrow(indptr), (len(indptr) - 1, n_columns))


def blocks(*matrices: csr_array) -> Iterator[slice]:
    """Ranges of rows to work on one after another."""
    for start in range(0, matrices[0].shape[0], ROWS_AT_ONCE):
        yield slice(start, start + ROWS_AT_ONCE)
