"""The manifest of a folder: every file with its size and sha256, so that a damaged one is never used."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from longtail.errors import ModelIntegrityError, ModelVersionError
from longtail.storage.jsonfile import read_json, write_json
from longtail.storage.listed_file import FileEntry, open_regular

MANIFEST = "manifest.json"
FORMAT = "longtail-folder"
VERSION = 1
MAX_MANIFEST_BYTES = 16 * 2**20

_SHA256 = re.compile(r"[0-9a-f]{64}")


def write_manifest(folder: Path) -> None:
    """List every file in ``folder`` (sub-folders too) in its manifest."""
    files = {}
    for path in files_in(folder):
        name = path.relative_to(folder).as_posix()
        if name != MANIFEST:
            files[name] = {"size": path.stat().st_size, "sha256": sha256_of(path)}
    write_json(folder / MANIFEST, {"format": FORMAT, "version": VERSION, "files": files})


def read_manifest(folder: Path) -> dict[str, FileEntry]:
    """The entries of a folder's manifest by relative path, each one checked for form."""
    path = folder / MANIFEST
    value = read_json(path, max_bytes=MAX_MANIFEST_BYTES)
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise ModelIntegrityError(f'{path} is not a manifest of longtail (no "format": "{FORMAT}")')
    version = value.get("version")
    if type(version) is not int or version < 1:
        raise ModelIntegrityError(f"{path}: the version must be a number, not {_shown(version)}")
    if version > VERSION:
        raise ModelVersionError(
            f"{path} has format version {version}, but this longtail reads up to {VERSION}: upgrade longtail"
        )
    files = value.get("files")
    if not isinstance(files, dict):
        raise ModelIntegrityError(f"{path}: 'files' must be a table of files, not {_shown(files)}")
    return {name: _entry(path, name, entry) for name, entry in files.items()}


def sha256_of(path: Path) -> str:
    """The sha256 of a file, read in chunks."""
    with open_regular(path) as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def files_in(folder: Path) -> Iterator[Path]:
    """Every file below ``folder``, in a fixed order; links to folders count as files and are not followed."""

    def fail(error: OSError) -> None:
        raise error

    for at, folders, files in os.walk(folder, onerror=fail):
        folders.sort()
        links = [name for name in folders if (Path(at) / name).is_symlink()]
        yield from (Path(at) / name for name in sorted([*files, *links]))


def _entry(path: Path, name: str, entry: Any) -> FileEntry:
    parts = name.split("/")
    if name == MANIFEST or any(c in name for c in "\\:\0") or any(part in ("", ".", "..") for part in parts):
        raise ModelIntegrityError(f"{path} lists {_shown(name)}, which is not a plain path inside the folder")
    size = entry.get("size") if isinstance(entry, dict) else None
    digest = entry.get("sha256") if isinstance(entry, dict) else None
    if type(size) is not int or size < 0 or not isinstance(digest, str) or not _SHA256.fullmatch(digest):
        raise ModelIntegrityError(f"{path}: the entry of {_shown(name)} must have a size and a sha256")
    return FileEntry(size, digest)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
