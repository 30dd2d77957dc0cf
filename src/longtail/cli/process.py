"""A command as a process: signals have their exit code from the first line to the last.

While a command works, Ctrl-C, SIGTERM and SIGHUP raise an exception, so that temporary files are removed. Once its
exit code is decided nothing changes it: signals are ignored, and the process ends without the interpreter's own
clearing up, which takes long with torch and would set every signal back to its default.

This module is imported before anything that takes time.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, NoReturn

SECONDS_TO_CLEAR_UP = 1.0
"""A signal that follows another within this time does not interrupt the removal of temporary files."""

SECONDS_TO_RAISE_AGAIN = 0.01
"""After this time a signal comes again whose exception was dropped."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))


class Interrupted(KeyboardInterrupt):
    """A signal that ends the command."""

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__()
        self.number = number

    @property
    def exit_code(self) -> int:
        """128 and the signal, what a shell reports of a program that a signal ended."""
        return 128 + self.number

    @property
    def word(self) -> str:
        """What happened, for the user."""
        return "interrupted" if self.number == signal.SIGINT else "terminated"


class Signals:
    """The signals of this process: which came, and whether they raise an exception."""

    def __init__(self) -> None:
        self.received: list[int] = []
        """Compiled code may turn the exception of a signal into another one, so it is noted here."""
        self.raising = True
        """Setting it to False is no call, and the interpreter looks for signals at calls: none can come between."""
        self._raised_at = float("-inf")
        self._before: dict[int, Any] = {}
        self._hook: Any = None

    def catch(self) -> None:
        """From now on signals raise ``Interrupted``; those that the caller has this process ignore stay ignored."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in _SIGNALS:
            before = signal.getsignal(number)
            if before is not signal.SIG_IGN and before is not None:
                self._before[number] = before
                signal.signal(number, self._receive)
        self._hook, sys.unraisablehook = sys.unraisablehook, self._raise_again

    def restore(self) -> None:
        """Set the handlers to what they were before ``catch``."""
        if self._hook is not None:
            sys.unraisablehook = self._hook
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def cause(self, error: BaseException) -> BaseException:
        """The interruption, where a signal came before the error; else the error."""
        if self.received:
            return Interrupted(self.received[0])
        return Interrupted() if isinstance(error, KeyboardInterrupt) else error

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.received.append(number)
        now = time.monotonic()
        if self.raising and now - self._raised_at >= SECONDS_TO_CLEAR_UP:
            self._raised_at = now
            raise Interrupted(number)

    def _raise_again(self, ignored: Any) -> None:
        """Where Python cannot raise an exception (a destructor, a function that C code calls) it would drop it."""
        if not isinstance(ignored.exc_value, Interrupted):
            self._hook(ignored)
        elif self.raising:
            self._raised_at = float("-inf")
            threading.Timer(SECONDS_TO_RAISE_AGAIN, os.kill, (os.getpid(), ignored.exc_value.number)).start()


def run(work: Callable[[Signals], int]) -> NoReturn:
    """Do the work of this process and end it with the exit code that is returned.

    ``work`` sets ``raising`` to False when it knows the code.
    """
    signals = Signals()
    try:
        signals.catch()
        _open_closed_streams()
        code = work(signals)
    except BaseException as error:
        signals.raising = False
        cause = signals.cause(error)
        if not isinstance(cause, Interrupted):
            raise
        code = cause.exit_code
        say(f"{cause.word}; nothing was written")
    _end(code)


def say(sentence: str) -> None:
    """The last sentence of a command that did not do its work; where nobody reads it, the exit code stays."""
    with suppress(OSError, ValueError):
        print(f"longtail: {sentence}", file=sys.stderr, flush=True)


def _open_closed_streams() -> None:
    """Python has None for a stream that the caller closed; the empty device does as well and needs no care."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))


def _end(code: int) -> NoReturn:
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        # Standard output was flushed before, and what failed then is in the exit code.
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
