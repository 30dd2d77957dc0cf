"""One training run as others see it: named phases with progress, and the seconds each one took."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LOGGER = logging.getLogger("longtail")
"""Messages of training in Python: facts at the level INFO, warnings at WARNING."""


@dataclass(slots=True)
class Phase:
    """A named piece of work; ``total`` is None while its size is unknown."""

    name: str
    total: int | None
    run: Run
    done: int = 0

    def advance(self, steps: int = 1, note: str = "") -> None:
        """Say that ``steps`` more are done; ``note`` is a short text to show beside the bar."""
        self.done += steps
        self.run.on_advance(self, note)


@dataclass(slots=True)
class Run:
    """Shows no progress by default, as ``longtail.progress`` does; messages go to the logger ``longtail``."""

    seconds: dict[str, float] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)
    checkpoints: Path | None = None
    """Where a system that trains in stages keeps what it has learned so far; None: nowhere."""
    resume: bool = False
    """Whether it resumes from what is kept there."""
    in_stages: bool = False
    """Whether the system trains in stages; it says so when it opens its checkpoints."""
    fingerprint: Mapping[str, Any] = field(default_factory=dict)
    """What a system that trains in stages depends on: data, settings. Processes that train together must agree."""
    opened: Any = None
    """Checkpoints that are open already: a member of an ensemble uses those of the ensemble."""

    @contextmanager
    def phase(self, name: str, total: int | None = None) -> Iterator[Phase]:
        """Time the block as the phase ``name``; a name used again adds up."""
        phase = Phase(name, total, self)
        start = time.perf_counter()
        self.on_start(phase)
        try:
            yield phase
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
            self.on_end(phase)

    def say(self, message: str) -> None:
        """Keep a sentence that the user may read (what was learned)."""
        self.messages.append(message)
        LOGGER.info(message)

    def warn(self, message: str) -> None:
        """Keep a sentence that the user should read: something is not as it should be."""
        self.messages.append(message)
        LOGGER.warning(message)

    def on_start(self, phase: Phase) -> None:
        """A phase begins."""

    def on_advance(self, phase: Phase, note: str) -> None:
        """A phase went on."""

    def on_end(self, phase: Phase) -> None:
        """A phase is over, finished or not."""
