"""One writer at a time for an output: a second one is told so, and does not wait."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from longtail.errors import BusyError


@contextmanager
def only_writer(target: Path) -> Iterator[None]:
    """Hold the lock of ``target`` (a hidden sibling file) in the block; BusyError if another writer has it."""
    from filelock import FileLock, Timeout

    path = target.parent / f".{target.name}.lock"
    lock = FileLock(path, timeout=0.5, poll_interval=0.02)
    try:
        lock.acquire()
    except Timeout:
        raise BusyError(f"another process is writing {target}: wait for it, or choose another name") from None
    try:
        yield
    finally:
        # Removed while still held: whoever opened it meanwhile gets a lock on a deleted file, notices that
        # and tries again with a new one. After the release it could already be someone else's.
        with contextlib.suppress(OSError):
            path.unlink()
        lock.release()
