"""What ``torchrun`` tells a process: which one of how many it is. Reading it does not import torch."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Self

from longtail.errors import UsageError


@dataclass(frozen=True, slots=True)
class Launch:
    """This process among those that were started together.

    Attributes:
        rank: its number, from 0.
        size: how many there are on all machines.
        local_size: how many there are on this machine.
        restarts: how often torchrun has started all of them again.
    """

    rank: int = 0
    size: int = 1
    local_size: int = 1
    restarts: int = 0

    @classmethod
    def here(cls) -> Self:
        """From the environment; one process alone where nothing is said there."""
        if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
            return cls()
        launch = cls(
            _number("RANK"),
            _number("WORLD_SIZE"),
            _number("LOCAL_WORLD_SIZE", 1),
            _number("TORCHELASTIC_RESTART_COUNT", 0),
        )
        if not 0 <= launch.rank < launch.size or launch.local_size < 1:
            raise UsageError(
                f"the environment has RANK={launch.rank}, WORLD_SIZE={launch.size} and LOCAL_WORLD_SIZE="
                f"{launch.local_size}, which do not fit together: start the processes with torchrun"
            )
        return launch

    @property
    def first(self) -> bool:
        """Whether it is the process that writes and prints."""
        return self.rank == 0


def _number(name: str, default: int | None = None) -> int:
    value = os.environ.get(name, "" if default is None else str(default))
    try:
        return int(value)
    except ValueError:
        raise UsageError(
            f"the environment variable {name} is {value!r}, not a number: start the processes with torchrun"
        ) from None
