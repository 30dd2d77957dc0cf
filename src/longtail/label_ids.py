"""Label ids by number, where -1 is the padding of predictions and no label."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self


class LabelIds(list[str]):
    """A list of label ids that refuses negative numbers.

    The arrays of predictions are padded with -1, which would be the last label of a plain list.
    """

    @classmethod
    def of(cls, ids: Iterable[str]) -> Self:
        """The ids as such a list."""
        return ids if isinstance(ids, cls) else cls(ids)

    def __getitem__(self, place: Any) -> Any:
        """The id of a label, or those of a slice."""
        if not isinstance(place, slice) and place < 0:
            raise IndexError(
                f"{place} is no label number: -1 is the padding of predictions, which their names "
                "(predictions.labels) leave out; the last label is ids[len(ids) - 1]"
            )
        return super().__getitem__(place)
