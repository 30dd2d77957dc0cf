"""Compiled kernels: numba functions that release the interpreter lock and keep their machine code on disk.

numba keeps the machine code of all signatures of a function in numbered files and their numbers in an index. Two
processes that compile a function for different types at the same time may give both the same number, and a third
one then runs code that was compiled for other types: wrong numbers without an error. Here the name of a file is a
digest of the signature, so that no file ever has the code of another signature.

The code of a function has that of the functions that it calls in it, and numba looks at the function's own source
file only. The source files of those that are called are part of the digest, too.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Set
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar, cast, overload

from numba import njit
from numba.core.caching import IndexDataCacheFile
from numba.core.dispatcher import Dispatcher

F = TypeVar("F", bound=Callable[..., Any])

SUMS = {"reassoc", "contract", "nsz"}
"""Liberties of the compiler with which sums are vectorised, and infinities and NaN keep their meaning."""


class CodeFiles(IndexDataCacheFile):
    """Machine code of one function on disk, a file per signature."""

    called: Callable[[], list[tuple[str, int, int]]] = staticmethod(list)
    """The source files of the functions that it calls."""

    def save(self, key: Any, data: Any) -> None:
        """Keep the code of a signature; the file is written aside and moved into place."""
        # Code that cannot be kept (a full or read-only disk) is compiled again by the next process.
        with suppress(OSError):
            self._save_data(self._name(key), data)

    def load(self, key: Any) -> Any:
        """The code of a signature, None if there is none or its file is damaged."""
        try:
            return self._load_data(self._name(key))
        except Exception:  # Whatever is wrong with the file, the function is compiled again.
            return None

    def _name(self, key: Any) -> str:
        # The source's time and size are part of it: code of an older version is never found.
        parts = (self._version, self._source_stamp, self.called(), key)
        digest = hashlib.sha256(repr(parts).encode()).hexdigest()
        return str(self._data_name_pattern).format(number=int(digest[:15], 16))


@overload
def kernel(function: F) -> F: ...
@overload
def kernel(*, fastmath: bool | Set[str] = False, error_model: str = "python") -> Callable[[F], F]: ...
def kernel(
    function: F | None = None, *, fastmath: bool | Set[str] = False, error_model: str = "python"
) -> F | Callable[[F], F]:
    """Compile with numba, as ``njit(nogil=True, cache=True)`` does; in memory alone if no folder is writable."""

    def compiled(function: F) -> F:
        dispatcher: Any = njit(nogil=True, fastmath=fastmath, error_model=error_model)(function)
        try:
            dispatcher.enable_caching()
        except RuntimeError:
            # Neither the package's folder nor the user's cache folder can be written.
            return cast(F, dispatcher)
        cache = dispatcher._cache
        files = cache._cache_file
        code = CodeFiles(files._cache_path, cache._impl.filename_base, files._source_stamp)
        code.called = partial(called_sources, function)
        cache._cache_file = code
        return cast(F, dispatcher)

    return compiled if function is None else compiled(function)


def called_sources(function: Callable[..., Any]) -> list[tuple[str, int, int]]:
    """Name, time and size of the source files of all kernels that a function calls, and that these call."""
    found: set[tuple[str, int, int]] = set()
    known: set[Any] = {function}
    waiting: list[Any] = [function]
    while waiting:
        caller = waiting.pop()
        values = (caller.__globals__.get(name) for name in caller.__code__.co_names)
        for callee in [value.py_func for value in values if isinstance(value, Dispatcher)]:
            if callee not in known:
                known.add(callee)
                waiting.append(callee)
                # Without a source file, as in an archive, there is nothing that could change.
                with suppress(OSError):
                    status = os.stat(callee.__code__.co_filename)
                    found.add(
                        (os.path.basename(callee.__code__.co_filename), status.st_mtime_ns, status.st_size)
                    )
    return sorted(found)
