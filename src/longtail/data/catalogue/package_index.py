"""Reads apt's lists of packages: blocks of ``Field: value`` lines, plain or compressed in any of apt's ways."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO

from longtail.errors import DataError

LISTS = Path("/var/lib/apt/lists")
_APT_HELPER = "/usr/lib/apt/apt-helper"
_OPENERS: dict[str, Callable[..., AbstractContextManager[IO[str]]]] = {
    ".gz": gzip.open,
    ".xz": lzma.open,
    ".bz2": bz2.open,
}


def packages(folder: Path) -> Iterator[dict[str, str]]:
    """The fields of every package in the lists; each has at least the field Package."""
    for path in sorted(folder.glob("*_Packages*")):
        with _opened(path) as lines:
            yield from (fields for fields in paragraphs(lines) if "Package" in fields)


def long_descriptions(folder: Path) -> dict[str, str]:
    """The English long descriptions by the md5 of the description, where apt keeps them in files of their own."""
    found = {}
    for path in sorted(folder.glob("*_Translation-en*")):
        with _opened(path) as lines:
            for fields in paragraphs(lines):
                long = fields.get("Description-en", "").partition("\n")[2]
                found[fields.get("Description-md5", "")] = long
    found.pop("", None)
    return found


def paragraphs(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """Blocks separated by empty lines; a line that starts with a space continues the field before it."""
    fields: dict[str, str] = {}
    last = ""
    for raw in lines:
        line = raw.rstrip("\r\n")
        if not line.strip():
            if fields:
                yield fields
            fields, last = {}, ""
        elif line[0] in " \t":
            if last:
                fields[last] += "\n" + line
        else:
            last, _, value = line.partition(":")
            fields[last] = value.strip()
    if fields:
        yield fields


@contextmanager
def _opened(path: Path) -> Iterator[Iterable[str]]:
    try:
        if path.suffix == ".lz4":
            yield io.StringIO(_unpack_lz4(path))
        else:
            opener = _OPENERS.get(path.suffix, open)
            with opener(path, "rt", encoding="utf-8", errors="replace") as lines:
                yield lines
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise DataError(f"cannot read this list of apt: {error}", path=path) from None


def _unpack_lz4(path: Path) -> str:
    """apt's own helper, or the lz4 program: Python has no lz4 of its own."""
    commands = (["lz4", "-dc"], [_APT_HELPER, "cat-file"])
    command = next((command for command in commands if shutil.which(command[0])), None)
    if command is None:
        raise DataError("reading it needs the program lz4: install Debian's package lz4", path=path)
    done = subprocess.run([*command, str(path.resolve())], capture_output=True, check=False)
    if done.returncode != 0:
        reason = done.stderr.decode(errors="replace").strip().splitlines()
        raise DataError(f"cannot unpack it: {reason[-1] if reason else 'lz4 failed'}", path=path)
    return done.stdout.decode("utf-8", errors="replace")
