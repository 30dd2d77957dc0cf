"""An engine that gives every part what a process of its own would get: copies, which it can only read."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any


class Copies:
    """Works on copies of what is shared and of the parts, and counts these."""

    elsewhere = True

    def __init__(self) -> None:
        self.parts = 0

    def map(
        self,
        function: Callable[[Any, Any], Any],
        shared: Any,
        parts: Sequence[Any],
        *,
        done: Callable[[Any], None] | None = None,
        whole: bool = False,
    ) -> list[Any]:
        self.parts += len(parts)
        found = []
        for part in parts:
            sent = pickle.loads(pickle.dumps((function, shared, part)))
            found.append(pickle.loads(pickle.dumps(sent[0](*sent[1:]))))
            if done is not None:
                done(part)
        return found
