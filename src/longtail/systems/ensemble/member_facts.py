"""What an ensemble knows around its labels: what the first member that knows something says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from longtail.systems.label_facts import LabelFacts, NeighbourSource

if TYPE_CHECKING:
    from longtail.systems.base import System
    from longtail.systems.ensemble.members import Member

T = TypeVar("T")


class MemberFacts(LabelFacts):
    """The part of an ensemble that tells of its labels."""

    members_: list[Member]

    def label_neighbours(self, label: int, k: int = 10) -> list[tuple[int, float]]:
        """Those of the first member that knows some."""
        return self._first_to_tell(lambda system: system.label_neighbours(label, k), label)

    def neighbour_source(self, label: int) -> NeighbourSource:
        """That of the same member."""
        able = self._first_to_tell(
            lambda system: [system] if system.label_neighbours(label, 1) else [], label
        )
        return able[0].neighbour_source(label) if able else super().neighbour_source(label)

    def label_documents(self, label: int, k: int = 10) -> list[tuple[str, np.ndarray]]:
        """Those of the first member that keeps some."""
        return self._first_to_tell(lambda system: system.label_documents(label, k), label)

    def _first_to_tell(self, asked: Callable[[System], list[T]], label: int) -> list[T]:
        able = (member.system for member in self.members_ if label < len(member.system.labels_))
        return next((found for found in map(asked, able) if found), [])
