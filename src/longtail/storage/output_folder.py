"""One output folder: complete under its name, or not there; the one before is never lost."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from longtail.errors import ModelError, OutputExistsError
from longtail.storage.atomic import output_errors, sync_folder
from longtail.storage.lock import only_writer
from longtail.storage.manifest import MANIFEST, files_in, read_manifest, write_manifest

_JUNK = {".DS_Store", "Thumbs.db", "desktop.ini"}
_DATA_FILES = re.compile(
    r"((train|valid|test|labels)\.(jsonl|txt)|filter_(train|valid|test)\.tsv|filter_labels_(train|valid|test)\.txt"
    r"|edges\.tsv|((trn|val|tst)_X_(Xf|Y)|lbl_X_Xf)\.txt|[XY]\.(trn|val|tst)\.npz|output-items\.txt)(\.gz|\.xz)?"
)
"""Names of the files that data sets are written as; what only a user would put there is not among them."""


@contextmanager
def writing_folder(path: str | Path, *, force: bool = False, manifest: bool = True) -> Iterator[Path]:
    """Yield a temporary sibling folder that takes the name ``path`` when the block ends well.

    Args:
        path: the folder to write; missing parents are created, an empty folder is simply used.
        force: replace an existing folder, if everything in it was written by longtail.
        manifest: list all files with size and sha256 in ``manifest.json`` at the end.
    """
    with output_errors(path):
        target = Path(path).resolve()
        _refuse(target, path, force)
        target.parent.mkdir(parents=True, exist_ok=True)
        with only_writer(target):
            _recover(target)
            _refuse(target, path, force)
            temporary = target.parent / f".{target.name}.longtail-new"
            try:
                temporary.mkdir()
                yield temporary
                if manifest:
                    write_manifest(temporary)
                _sync(temporary)
                _refuse(target, path, force)
                _swap(temporary, target)
            except BaseException:
                _remove(temporary)
                raise


def set_aside(target: Path) -> Path:
    """Where the old folder is kept during the moment in which the new one takes its name."""
    return target.parent / f".{target.name}.longtail-old"


def _swap(temporary: Path, target: Path) -> None:
    aside = set_aside(target)
    if target.is_dir():
        os.rename(target, aside)
    try:
        os.rename(temporary, target)
    except BaseException:
        if aside.is_dir() and not target.exists():
            os.rename(aside, target)
        raise
    try:
        sync_folder(target.parent)
    finally:
        _remove(aside)


def _remove(folder: Path) -> None:
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except BaseException:
        # Ctrl-C in the middle: the rest goes first.
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _recover(target: Path) -> None:
    """Tidy up after a writer that was killed; the lock says that no other one is at work."""
    aside = set_aside(target)
    if aside.is_dir():
        if target.exists():
            shutil.rmtree(aside)
        else:
            os.rename(aside, target)
    unfinished = target.parent / f".{target.name}.longtail-new"
    if unfinished.is_dir():
        shutil.rmtree(unfinished)


def _refuse(target: Path, shown: str | Path, force: bool) -> None:
    """Raise if what is at ``target`` may not be replaced."""
    if not target.exists():
        return
    if not target.is_dir():
        raise OutputExistsError(f"cannot write the folder {shown}: there is a file of that name")
    if not any(target.iterdir()):
        return
    if not force:
        raise OutputExistsError(
            f"{shown} is there already: choose another name, or replace it with --force (force=True in Python)"
        )
    foreign = _foreign_file(target)
    if foreign is not None:
        raise OutputExistsError(
            f"{shown} holds {foreign}, which is not longtail's, so it is not replaced even with --force: "
            "choose another name, or remove the folder yourself"
        )


def _foreign_file(folder: Path) -> str | None:
    """The first thing in the folder that is not from longtail: neither in its manifest nor a data file."""
    listed = {MANIFEST}
    if (folder / MANIFEST).is_file():
        try:
            listed.update(read_manifest(folder))
        except ModelError:
            return MANIFEST
    else:
        listed.clear()
    for path in files_in(folder):
        name = path.relative_to(folder).as_posix()
        known = name in listed if listed else _DATA_FILES.fullmatch(name)
        if not known and path.name not in _JUNK:
            return name
    return None


def _sync(folder: Path) -> None:
    for path in files_in(folder):
        with path.open("rb") as handle:
            os.fsync(handle.fileno())
    for at, _, _ in os.walk(folder, topdown=False):
        sync_folder(Path(at))
