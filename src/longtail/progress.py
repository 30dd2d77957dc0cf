"""Progress of a run: bars with the time left on a terminal, plain lines in a pipe, or calls of a function."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, TypeAlias

from longtail.errors import UsageError
from longtail.run import LOGGER, Phase, Run

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

SECONDS_BETWEEN_LINES = 5.0
"""How often a long phase reports itself where there is no terminal."""

Callback: TypeAlias = Callable[[str, int, int | None], object]
"""Called with the name of a phase, the steps that are done, and their number (None while it is unknown)."""


def run_with(progress: bool | Callback | Run | None) -> Run:
    """A run that shows its progress on stderr (True), calls a function, or shows none (False, None)."""
    if isinstance(progress, Run):
        return progress
    if progress is None or isinstance(progress, bool):
        return ConsoleRun(sys.stderr, logged=True) if progress else Run()
    if callable(progress):
        return CallbackRun(progress)
    raise UsageError(
        f"progress must be True, False or a function of (phase, done, total), not {progress!r:.60}"
    )


class CallbackRun(Run):
    """A run that calls a function when a phase begins, advances and ends."""

    def __init__(self, callback: Callback) -> None:
        super().__init__()
        self._callback = callback

    def on_start(self, phase: Phase) -> None:
        """Say that nothing is done yet."""
        self._callback(phase.name, phase.done, phase.total)

    def on_advance(self, phase: Phase, note: str) -> None:
        """Say how far the phase is."""
        self._callback(phase.name, phase.done, phase.total)

    def on_end(self, phase: Phase) -> None:
        """Say where the phase ended; one that was finished has done all of its steps."""
        done = phase.total if phase.total is not None and sys.exc_info()[0] is None else phase.done
        self._callback(phase.name, done, phase.total)


class ConsoleRun(Run):
    """A run that shows its phases on ``stream``; ``quiet`` shows nothing, but still keeps messages and seconds.

    Args:
        logged: whether warnings go to the logger ``longtail`` where the program has set up logging.
    """

    def __init__(self, stream: IO[str], *, quiet: bool = False, logged: bool = False) -> None:
        super().__init__()
        self._logged = logged
        self._stream = stream
        self._quiet = quiet
        self._is_terminal = stream.isatty()
        self._started: dict[int, float] = {}
        self._said: dict[int, float] = {}
        self._bars: Progress | None = None
        self._tasks: dict[int, TaskID] = {}

    def say(self, message: str) -> None:
        """Keep the sentence and show it at once, above the bars."""
        super().say(message)
        self._show(message)

    def _show(self, message: str) -> None:
        if self._bars is not None:
            self._bars.console.print(message, markup=False, highlight=False)
        elif not self._quiet:
            self._line(message)

    def warn(self, message: str) -> None:
        """Show it as a warning, once: here, or by the logger where that is wanted and set up."""
        self.messages.append(message)
        if self._logged and LOGGER.hasHandlers():
            LOGGER.warning(message)
        else:
            self._show(f"warning: {message}")

    def on_start(self, phase: Phase) -> None:
        """Show a new bar, or say that the phase begins."""
        if self._quiet:
            return
        key, now = id(phase), time.monotonic()
        self._started[key] = self._said[key] = now
        if self._is_terminal:
            if self._bars is None:
                self._bars = _bars(self._stream)
                self._bars.start()
            self._tasks[key] = self._bars.add_task(
                phase.name, total=phase.total, count=counted(phase), note=""
            )
        else:
            size = "" if phase.total is None else f" ({phase.total:,})"
            self._line(f"{phase.name}{size} ...")

    def on_advance(self, phase: Phase, note: str) -> None:
        """Move the bar, or write a line if the last one is some seconds old."""
        key = id(phase)
        if key not in self._started:
            return
        if self._bars is not None:
            self._bars.update(self._tasks[key], completed=phase.done, count=counted(phase), note=note)
            return
        now = time.monotonic()
        if now - self._said[key] >= SECONDS_BETWEEN_LINES:
            self._said[key] = now
            self._line(progress_line(phase, now - self._started[key], note))

    def on_end(self, phase: Phase) -> None:
        """Take the bar away and leave a line with the seconds."""
        key = id(phase)
        if key not in self._started:
            return
        seconds = time.monotonic() - self._started.pop(key)
        del self._said[key]
        word = "stopped after" if sys.exc_info()[0] is not None else "took"
        line = f"{phase.name} {word} {duration(seconds)}"
        if self._bars is None:
            self._line(line)
            return
        self._bars.remove_task(self._tasks.pop(key))
        self._bars.console.print(line, markup=False, highlight=False)
        if not self._tasks:
            self._bars.stop()
            self._bars = None

    def _line(self, text: str) -> None:
        print(text, file=self._stream, flush=True)


def counted(phase: Phase) -> str:
    """How far a phase is as numbers: 25% (1 of 4), or 1,234 where its size is unknown."""
    if not phase.total:
        return f"{phase.done:,}" if phase.done else ""
    return f"{min(1.0, phase.done / phase.total):.0%} ({phase.done:,} of {phase.total:,})"


def progress_line(phase: Phase, elapsed: float, note: str = "") -> str:
    """How far a phase is, in words: percentage and time left where its size is known."""
    tail = f", {note}" if note else ""
    if not phase.total:
        return f"{phase.name}: {phase.done:,} done in {duration(elapsed)}{tail}"
    share = phase.done / phase.total
    left = f", {duration(elapsed * max(0.0, 1 / share - 1))} left" if share > 0 else ""
    return f"{phase.name}: {counted(phase)}{left}{tail}"


def duration(seconds: float) -> str:
    """Seconds as a person says them: 0.4 s, 12 s, 3 min 05 s, 2 h 10 min."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def _bars(stream: IO[str]) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[count]}", markup=False),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[note]}", markup=False),
        console=Console(file=stream),
        transient=True,
    )
