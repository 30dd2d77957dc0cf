"""Memory after models were loaded or exchanged."""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress


def settle_memory() -> None:
    """Free what a former model has left, and have the garbage collector pass over what is there now.

    Objects of models are many and stay; looking at them again and again took a tenth of a busy service's time.
    The C library keeps freed memory in pieces that the next model often does not fit in, so that a process grew
    from reload to reload: it is told to give them back.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    # Only glibc has it.
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
