"""Where the texts of documents go while they are read: into lists, or into files from which they are mapped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Protocol, cast

from longtail.lazy_strings import LazyStrings
from longtail.storage.flat_files import StringWriter, mapped_strings, string_files, writing_flat

COLUMNS = ("ids", "titles", "texts")
Strings = Sequence[str]


class Columns(Protocol):
    """The ids, titles and texts of the documents of one file, as they are read."""

    size: int

    def add(self, ids: Strings, titles: Strings, texts: Strings) -> None:
        """Take more documents."""

    def finished(self) -> tuple[list[str], list[str], list[str]]:
        """The columns of all documents."""


class InLists:
    """Columns in memory."""

    def __init__(self) -> None:
        self.size = 0
        self._columns: tuple[list[str], list[str], list[str]] = ([], [], [])

    def add(self, ids: Strings, titles: Strings, texts: Strings) -> None:
        """Take more documents."""
        for column, more in zip(self._columns, (ids, titles, texts), strict=True):
            column.extend(more)
        self.size += len(ids)

    def finished(self) -> tuple[list[str], list[str], list[str]]:
        """The columns of all documents."""
        return self._columns


class InFiles:
    """Columns in files of a folder."""

    def __init__(self, folder: Path, spool: Spool) -> None:
        self.size = 0
        self._folder, self._spool = folder, spool
        folder.mkdir(parents=True)
        self._open = ExitStack()
        kinds = {file: kind for name in COLUMNS for file, kind in string_files(name).items()}
        files = self._open.enter_context(writing_flat(folder, **kinds))
        self._writers = [StringWriter(files[i], files[i + 1]) for i in range(0, len(files), 2)]

    def add(self, ids: Strings, titles: Strings, texts: Strings) -> None:
        """Take more documents."""
        for writer, more in zip(self._writers, (ids, titles, texts), strict=True):
            writer.add(more)
        self.size += len(ids)

    def finished(self) -> tuple[list[str], list[str], list[str]]:
        """The columns of all documents, mapped from the files."""
        self._open.close()
        columns = mapped_columns(self._folder, self.size)
        self._spool.folders[id(columns[0])] = self._folder
        return columns


class Spool:
    """A folder for the documents that are read; ``folders`` has the folder of each column of ids."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.folders: dict[int, Path] = {}
        self._count = 0

    def columns(self) -> InFiles:
        """For the documents of one more file."""
        self._count += 1
        return InFiles(self._folder / f"documents-{self._count}", self)

    def folder_of(self, ids: Sequence[str]) -> Path:
        """Where the documents with this column of ids are."""
        return self.folders[id(ids)]


_current: ContextVar[Spool | None] = ContextVar("spool", default=None)


@contextmanager
def spooled_to(folder: Path) -> Iterator[Spool]:
    """Documents that are read inside are in files of this folder; further keys of their records are left out."""
    spool = Spool(folder)
    token = _current.set(spool)
    try:
        yield spool
    finally:
        _current.reset(token)


def new_columns() -> Columns:
    """Where the documents of one file go."""
    spool = _current.get()
    return InLists() if spool is None else spool.columns()


def keeps_extra() -> bool:
    """Whether further keys of records are kept."""
    return _current.get() is None


def mapped_columns(folder: Path, size: int) -> tuple[list[str], list[str], list[str]]:
    """The columns of documents in files, of which there must be ``size``."""
    found: list[LazyStrings] = [mapped_strings(folder, name, size) for name in COLUMNS]
    return cast("tuple[list[str], list[str], list[str]]", tuple(found))
