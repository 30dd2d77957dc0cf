"""Lines of a file, compressed or not, with an error that names file and line when they cannot be read."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, BinaryIO, cast

from longtail.data import limits
from longtail.data.encoding import HINT, UTF_8, in_utf8
from longtail.errors import DataError

COMPRESSED = (".gz", ".xz")
STDIN = "-"
LINES_AT_ONCE = 128
"""Few enough that short lines and what is made of them stay in the processor's cache."""

BYTES_AT_ONCE = 1 << 24
"""Of long lines fewer are taken at once."""

_BOM = b"\xef\xbb\xbf"
_GZIP_MAGIC = b"\x1f\x8b"
_XZ_MAGIC = b"\xfd7zXZ\x00"
_BUFFER = 1 << 20
_NUL = "there is a NUL byte; is this a text file in UTF-8? UTF-16 without a byte order mark is --encoding utf-16-le"
_CARRIAGE_RETURNS = (
    "its lines end with carriage returns alone, as those of old Mac files: convert it, "
    r"as in tr '\r' '\n' < old > new"
)


def bare_name(path: str | Path) -> str:
    """The file's name without .gz or .xz, in small letters: DATA.CSV.GZ is a table, too."""
    name = Path(path).name.lower()
    return name[:-3] if name.endswith(COMPRESSED) else name


@contextmanager
def opened(path: str | Path, encoding: str | None = UTF_8) -> Iterator[BinaryIO]:
    """The file's bytes, decompressed by what they are and not by the file's name; ``-`` is standard input.

    Text in another encoding becomes UTF-8; with None the bytes stay as they are.
    """
    with naming_file(path):
        if str(path) == STDIN:
            piped = _decompressed(cast("io.BufferedReader", sys.stdin.buffer), path)
            yield in_utf8(cast("io.BufferedReader", piped), encoding)
            return
        if Path(path).is_dir():
            raise DataError("is a folder, but a file was expected here", path=path)
        with open(path, "rb", buffering=_BUFFER) as handle:
            plain = _decompressed(cast("io.BufferedReader", handle), path)
            yield in_utf8(cast("io.BufferedReader", plain), encoding)


@contextmanager
def naming_file(path: str | Path) -> Iterator[None]:
    """Turn the ways in which reading a file can fail into a DataError that names it."""
    try:
        yield
    except FileNotFoundError:
        raise DataError("there is no such file", path=path) from None
    except PermissionError:
        raise DataError("no permission to read it", path=path) from None
    except EOFError:
        raise DataError("the compressed file is truncated; fetch or make it again", path=path) from None
    except (zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise DataError(f"the compressed file is damaged ({error})", path=path) from None
    except UnicodeDecodeError as error:
        raise DataError(
            f"is not valid {error.encoding}; name its encoding with --encoding", path=path
        ) from None
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", path=path) from None


def byte_lines(path: str | Path, encoding: str = UTF_8) -> Iterator[tuple[int, bytes]]:
    """Line numbers (from 1) and lines, without line ends and without a byte order mark."""
    with opened(path, encoding) as handle:
        yield from clean_lines(whole_lines(handle, path), path)


def whole_lines(handle: BinaryIO, path: str | Path) -> Iterator[bytes]:
    """The lines with their ends; one that is too long and too many blank ones are errors."""
    allowed = limits.current()
    longest, readline = allowed.line, handle.readline
    number, balance = 0, 0
    while line := readline(longest + 1):
        number += 1
        if len(line) > longest:
            raise limits.exceeded("line", "there are too many bytes in one line", path, number)
        if number == 1 and line.count(b"\r") > 1 and not line.endswith(b"\n"):
            # The whole file is one line: it would be one document.
            raise DataError(_CARRIAGE_RETURNS, path=path)
        if len(line) <= 2 and not line.strip():
            balance += 1
            if balance > allowed.blank:
                raise limits.exceeded("blank", limits.TOO_MANY_BLANK, path, number)
        else:
            balance -= 1
        yield line


def clean_lines(lines: Iterable[bytes], path: str | Path, first: int = 1) -> Iterator[tuple[int, bytes]]:
    """Lines of a file as ``byte_lines`` gives them; ``first`` is the number of the first one."""
    for number, line in enumerate(lines, first):
        if number == 1 and line.startswith(_BOM):
            line = line[len(_BOM) :]
        if b"\0" in line:
            raise DataError(_NUL, path=path, line=number)
        yield number, line.rstrip(b"\r\n")


def line_blocks(
    path: str | Path, size: int = LINES_AT_ONCE, encoding: str = UTF_8
) -> Iterator[tuple[int, list[bytes]]]:
    """Some lines at a time, with the number of the first, as they are: ``clean_lines`` cleans them.

    Where the file cannot be read any further, the lines before that come first, then the error.
    """
    first = 1
    with opened(path, encoding) as handle:
        every = whole_lines(handle, path)
        while True:
            lines: list[bytes] = []
            broken: Exception | None = None
            try:
                lines.extend(_some_lines(every, size))
            except Exception as error:
                broken = error
            if b"\0" in b"".join(lines):
                good = list(takewhile(lambda line: b"\0" not in line, lines))
                lines, broken = good, DataError(_NUL, path=path, line=first + len(good))
            if lines:
                yield first, lines
            if broken is not None:
                raise broken
            if not lines:
                return
            first += len(lines)


def _some_lines(lines: Iterator[bytes], count: int) -> Iterator[bytes]:
    """The next lines, fewer than ``count`` where they are long."""
    taken = 0
    for line in islice(lines, count):
        yield line
        taken += len(line)
        if taken > BYTES_AT_ONCE:
            return


def text_lines(path: str | Path, encoding: str = UTF_8) -> Iterator[tuple[int, str]]:
    """Line numbers (from 1) and lines as text; bytes that are not in the encoding are an error."""
    for number, line in byte_lines(path, encoding):
        yield number, decoded(line, path, number)


def decoded(line: bytes, path: str | Path, number: int) -> str:
    """The line as text, or an error with its place."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"is not valid UTF-8 (byte {error.start + 1} of the line); {HINT}", path=path, line=number
        ) from None


def first_lines(path: str | Path, count: int = 2) -> list[str]:
    """The first lines that are not blank, for guessing a format; nothing when the file is not text."""
    found: list[str] = []
    try:
        for _, line in byte_lines(path):
            if line.strip():
                # The structure of a format is ASCII, whatever the encoding of its texts.
                found.append(line.decode("utf-8", "replace"))
            if len(found) == count:
                break
    except DataError:
        if not os.access(path, os.R_OK):
            raise
    return found


def _decompressed(handle: io.BufferedReader, path: str | Path) -> BinaryIO:
    start = handle.peek(len(_XZ_MAGIC))
    if not start.startswith((_GZIP_MAGIC, _XZ_MAGIC)):
        return handle
    packed: Any = _Counted(handle)
    kind: Any = gzip.GzipFile if start.startswith(_GZIP_MAGIC) else lzma.LZMAFile
    unpacked: Any = kind(packed, mode="rb") if kind is lzma.LZMAFile else kind(fileobj=packed, mode="rb")
    return cast(BinaryIO, io.BufferedReader(_Bounded(unpacked, packed, path), _BUFFER))


class _Counted:
    """A compressed file or pipe, and how many bytes it has given so far."""

    def __init__(self, handle: io.BufferedReader) -> None:
        self._handle, self.given = handle, 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        found = self._handle.read(size)
        self.given += len(found)
        return found

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go there."""
        return self._handle.seek(offset, whence)

    def seekable(self) -> bool:
        """Whether it is a file."""
        return self._handle.seekable()

    def readable(self) -> bool:
        """It is."""
        return True


class _Bounded(io.RawIOBase):
    """An unpacked file that ends with an error where it grows too large for the compressed bytes read so far.

    The size of the whole file would be known, too. But a bomb of 10 MB could then unpack to gigabytes first.
    """

    def __init__(self, unpacked: io.RawIOBase, packed: _Counted, path: str | Path) -> None:
        self._unpacked, self._packed, self._path, self._taken = unpacked, packed, path, 0
        # Parsers of RDF ask a file for its name.
        self.name = str(path)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = self._unpacked.readinto(buffer) or 0
        self._taken += size
        limits.check_unpacked(self._taken, self._packed.given, self._path)
        return size
