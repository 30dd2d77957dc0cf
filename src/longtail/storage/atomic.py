"""One output file: whole and on the disk, or not there at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from longtail.errors import OutputError, OutputExistsError

_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file is larger than this system allows",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EROFS: "the file system is read-only",
    errno.ENOTDIR: "a part of the path is a file, not a folder",
    errno.EEXIST: "a part of the path is a file, not a folder",
    errno.EISDIR: "it is a folder, not a file",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ELOOP: "its symbolic links go round in a circle",
    errno.EBUSY: "it is in use by the system",
}


@contextmanager
def atomic_file(path: str | Path, *, force: bool = False) -> Iterator[BinaryIO]:
    """Yield a handle of a temporary sibling that takes the place of ``path`` when the block ends well.

    Whatever ends the block early (an error, Ctrl-C) leaves the old file as it was. Missing parent folders
    are created. A device or a pipe (``/dev/stdout``) is written through, as it can't be replaced.
    """
    with output_errors(path):
        target = Path(path).resolve()
        mode = target.stat().st_mode if target.exists() else None
        if mode is not None and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            with target.open("wb") as handle:
                yield handle
            return
        refuse_existing(target, shown=path, force=force)
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.parent / f".{target.name[:80]}.{secrets.token_hex(6)}.tmp"
        try:
            # Opened with the usual permissions (tempfile's are private), and never over a stranger's file.
            with os.fdopen(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666), "wb") as handle:
                yield handle
                handle.flush()
                if mode is not None:
                    os.chmod(temporary, stat.S_IMODE(mode))
                os.fsync(handle.fileno())
            refuse_existing(target, shown=path, force=force)
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        sync_folder(target.parent)


def refuse_existing(target: Path, *, shown: str | Path, force: bool) -> None:
    """Raise if a file is in the way and may not be replaced, or if a folder is."""
    if target.is_dir():
        raise OutputExistsError(f"cannot write {shown}: it is a folder, not a file")
    if target.exists() and not force:
        raise OutputExistsError(
            f"{shown} is there already: choose another name, or replace it with --force (force=True in Python)"
        )


@contextmanager
def output_errors(path: str | Path) -> Iterator[None]:
    """Turn a failure to write ``path`` into one sentence; a failure to read something else passes through."""
    try:
        yield
    except OSError as error:
        if isinstance(error, BrokenPipeError) or not _concerns(error, Path(path)):
            raise
        raise OutputError(f"cannot write {path}: {_reason(error)}") from error
    except OutputError as error:
        # A file in a temporary folder failed: the user knows the folder's own name, not that one.
        if not isinstance(error.__cause__, OSError):
            raise
        raise OutputError(f"cannot write {path}: {_reason(error.__cause__)}") from error.__cause__
    except RuntimeError as error:
        if "Symlink loop" not in str(error):
            raise
        raise OutputError(f"cannot write {path}: {_REASONS[errno.ELOOP]}") from error


def _reason(error: OSError) -> str:
    return _REASONS.get(error.errno or 0) or error.strerror or str(error)


def _concerns(error: OSError, path: Path) -> bool:
    """Whether the error is about ``path``, a hidden sibling of it or a parent; a failed write names no file."""
    if not isinstance(error.filename, str | bytes):
        return True
    named = Path(os.path.abspath(os.fsdecode(error.filename)))
    for target in (Path(os.path.abspath(path)), Path(os.path.realpath(path))):
        if target.is_relative_to(named):
            return True
        if named.is_relative_to(target.parent):
            sibling = named.relative_to(target.parent).parts[0]
            return sibling == target.name or sibling.startswith(f".{target.name[:80]}.")
    return False


def sync_folder(folder: Path) -> None:
    """Make renames in ``folder`` survive a power cut, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network file systems cannot sync a folder; the file in it is synced all the same.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(descriptor)
