"""The files that data were prepared from: whether they are still the same."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from longtail.errors import DataError
from longtail.storage.manifest import sha256_of


def stamps(paths: Iterable[str | Path]) -> dict[str, dict[str, Any]]:
    """Size, time and sha256 of every file, also of those in folders."""
    files = [file for path in paths for file in _files(Path(path))]
    return {str(file): {**_quick(file), "sha256": sha256_of(file)} for file in files}


def changed_file(known: Mapping[str, Mapping[str, Any]]) -> str | None:
    """A file that has another content than when its stamp was taken; files that are gone do not count."""
    for name, stamp in known.items():
        path = Path(name)
        if not path.is_file():
            continue
        quick = _quick(path)
        if quick["size"] != stamp["size"]:
            return name
        # The same content may have been copied here, at another time.
        if quick["time"] != stamp["time"] and sha256_of(path) != stamp["sha256"]:
            return name
    return None


def _quick(path: Path) -> dict[str, int]:
    found = path.stat()
    return {"size": found.st_size, "time": found.st_mtime_ns}


def _files(path: Path) -> list[Path]:
    path = Path(os.path.abspath(path))
    if not path.is_file() and not path.is_dir():
        what = "is no file or folder" if path.exists() else "there is no such file or folder"
        raise DataError(f"{what}: prepared data are made from files", path=path)
    return [path] if path.is_file() else sorted(file for file in path.iterdir() if file.is_file())
