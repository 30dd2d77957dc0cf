"""Text files in another encoding than UTF-8, read as if they were in UTF-8."""

from __future__ import annotations

import codecs
import io
from typing import BinaryIO, cast

UTF_8 = "utf-8"
UTF_16 = "utf-16"
HINT = (
    "if the file is in another encoding, name it: --encoding cp1252, latin-1 or utf-16 (encoding in Python)"
)
UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CHUNK = 1 << 16


def in_utf8(handle: io.BufferedReader, encoding: str | None) -> BinaryIO:
    """The bytes in UTF-8; a byte order mark of UTF-16 at the start goes before ``encoding``.

    None leaves them as they are.
    """
    if encoding is None:
        return cast(BinaryIO, handle)
    if handle.peek(2)[:2] in UTF_16_MARKS:
        encoding = UTF_16
    if codecs.lookup(encoding).name == UTF_8:
        return cast(BinaryIO, handle)
    return cast(BinaryIO, io.BufferedReader(_Recoded(handle, encoding), _CHUNK))


def is_evidently_utf8(handle: BinaryIO) -> bool:
    """Whether the bytes are valid UTF-8 and not all ASCII: text in other encodings practically never is."""
    decoder = codecs.getincrementaldecoder(UTF_8)()
    more_than_ascii = False
    try:
        while some := handle.read(_CHUNK):
            more_than_ascii = more_than_ascii or not some.isascii()
            if b"\0" in some:
                return False
            decoder.decode(some)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return more_than_ascii


class _Recoded(io.RawIOBase):
    def __init__(self, handle: io.BufferedReader, encoding: str) -> None:
        self._handle = handle
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._rest = b""
        # Parsers of RDF ask a file for its name.
        self.name = str(getattr(handle, "name", ""))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast(bytearray, buffer))
        while not self._rest:
            some = self._handle.read(_CHUNK)
            self._rest = self._decoder.decode(some, final=not some).encode("utf-8", "surrogatepass")
            if not some:
                break
        count = min(len(view), len(self._rest))
        view[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count
