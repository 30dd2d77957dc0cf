"""Reading files of a folder that may be hostile: opened once, and what is read is what is checked.

A file that a manifest lists is hashed while it is read. Nobody can swap or change it between the check and the use,
as there is one reading, not two.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING

from longtail.errors import ModelIntegrityError

# The class of paths depends on the operating system, which only the interpreter knows.
if TYPE_CHECKING:
    from pathlib import Path as _Path
else:
    _Path = type(Path())
_CHUNK = 2**20


@dataclass(frozen=True, slots=True)
class FileEntry:
    """What the manifest says about one file."""

    size: int
    sha256: str


class ListedFile(_Path):
    """The path of a file that a manifest lists; whoever reads it with :func:`reading` gets the listed content.

    Attributes:
        entry: what the manifest says; None for paths that were made of this one.
        checked: the paths of the same folder that were read and are as listed.
    """

    entry: FileEntry | None = None
    checked: set[str]

    @classmethod
    def of(cls, path: Path, entry: FileEntry, checked: set[str]) -> ListedFile:
        """The file of an entry."""
        found = cls(path)
        found.entry, found.checked = entry, checked
        return found


class Reader:
    """A regular file from its beginning on."""

    def __init__(self, handle: BufferedReader, path: str | Path) -> None:
        self.handle, self.path = handle, path
        self.size = os.fstat(handle.fileno()).st_size
        entry = path.entry if isinstance(path, ListedFile) else None
        self._entry, self._sha256 = entry, None if entry is None else hashlib.sha256()

    def read(self, size: int) -> bytes:
        """The next bytes, fewer at the end."""
        found = self.handle.read(size)
        if self._sha256 is not None:
            self._sha256.update(found)
        return found

    def readinto(self, view: memoryview) -> int:
        """Fill the view; returns how many bytes there were."""
        count = self.handle.readinto(view)
        if self._sha256 is not None:
            self._sha256.update(view[:count])
        return count

    def check(self) -> None:
        """Read what is left; a file that is not as its manifest lists it is an error."""
        if self._entry is None or self._sha256 is None:
            return
        while self.read(_CHUNK):
            pass
        found, self._sha256 = self._sha256.hexdigest(), None
        if found != self._entry.sha256:
            raise ModelIntegrityError(
                f"{self.path} has been altered: its sha256 is not the one in the manifest"
            )
        if isinstance(self.path, ListedFile):
            self.path.checked.add(str(self.path))


@contextmanager
def reading(path: str | Path) -> Iterator[Reader]:
    """Read a file; at the end of the block it was what its manifest lists, or that is the error."""
    with open_regular(path) as handle:
        reader = Reader(handle, path)
        try:
            yield reader
        except ModelIntegrityError:
            # Where the file is damaged, that is the cause, and what came of it is not.
            reader.check()
            raise
        reader.check()


def read_bytes(path: str | Path, *, max_bytes: int | None = None) -> bytes:
    """The content of a file of at most ``max_bytes``."""
    with reading(path) as reader:
        most = reader.size if max_bytes is None else max_bytes
        content = reader.read(min(most, reader.size) + 1)
        if len(content) > most:
            raise ModelIntegrityError(f"{path} has more than {most:,} bytes, which is too much for this file")
    return content


def open_regular(path: str | Path) -> BufferedReader:
    """Open a regular file for reading; anything else (missing, a folder, a pipe) is an integrity error."""
    try:
        # Opening a pipe would wait for its writer.
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise ModelIntegrityError(f"the file {path} is missing") from None
    except (OSError, ValueError) as error:
        raise ModelIntegrityError(
            f"cannot read {path}: {getattr(error, 'strerror', None) or error}"
        ) from None
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise ModelIntegrityError(f"{path} is not a regular file")
    return os.fdopen(number, "rb")
