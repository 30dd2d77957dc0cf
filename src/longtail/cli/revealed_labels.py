"""The revealed labels of streamed documents, without those that the model does not have."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from longtail.data.lines import STDIN, byte_lines
from longtail.data.records import REVEALED
from longtail.types import Documents, LabelSet


class RevealedLabels:
    """Takes the revealed labels of batch after batch, and counts those that the model does not have."""

    def __init__(self, labels: LabelSet) -> None:
        self.labels = labels
        self.unknown = 0
        self._documents = 0
        self._first: tuple[int, str, str] | None = None

    def of(self, documents: Documents) -> list[list[str]] | None:
        """A list of label ids for each document; None if no document has any."""
        before = self._documents
        self._documents += len(documents)
        if documents.extra is None or not any(REVEALED in extra for extra in documents.extra):
            return None
        return [
            [
                label
                for label in extra.get(REVEALED, ())
                if self._is_known(label, before + row, documents.ids[row])
            ]
            for row, extra in enumerate(documents.extra)
        ]

    def unknown_sentence(self, source: str) -> str | None:
        """Which labels were ignored, in one sentence; None if there are none."""
        if self._first is None:
            return None
        row, label, id_ = self._first
        # Standard input cannot be read again to find the line.
        line = f", line {_line_of(source, row)}" if Path(source).is_file() else ""
        name = "standard input" if source == STDIN else source
        return (
            f"{name}{line}: the revealed label {label!r} of the document {id_!r} is not in the model; "
            f"{self.unknown:,} such labels were ignored"
        )

    def _is_known(self, label: str, row: int, id_: str) -> bool:
        if label in self.labels.index:
            return True
        self.unknown += 1
        self._first = self._first or (row, label, id_)
        return False


def _line_of(path: str, row: int) -> int:
    """The number of the line that holds a document: blank lines hold none."""
    filled = (number for number, line in byte_lines(path) if line.strip(b" "))
    return next(islice(filled, row, None))
