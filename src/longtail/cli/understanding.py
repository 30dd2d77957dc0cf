"""What the reader understood of the data, on one line; data without labels are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from longtail.errors import UsageError

if TYPE_CHECKING:
    from longtail.cli.session import Session
    from longtail.data import Understood
    from longtail.types import Dataset

STANDARD = "-"


def say(session: Session, understood: Understood | None, source: str, label_file: str | None = None) -> None:
    """Tell how the file was read; ``label_file`` was named for the texts of its labels."""
    if understood is not None:
        name = "standard input" if source == STANDARD else understood.path
        found = replace(understood, path=name, label_file=label_file or understood.label_file)
        session.say(found.line())


def check_labels(data: Dataset, understood: Understood | None, source: str, purpose: str) -> None:
    """Refuse documents none of which has a label; ``purpose`` says what they are for."""
    if data.Y.nnz or not len(data):
        return
    problem = f"{source}: no document has a label, so there is nothing to {purpose}"
    if understood is not None and understood.has_columns:
        names = [
            name for name in (understood.id, understood.title, *understood.texts, *understood.others) if name
        ]
        problem += (
            f"; the column {understood.labels!r} is empty"
            if understood.labels is not None
            else f"; none of {', '.join(names)} is recognised as the labels: name the column with --label-column"
        )
    raise UsageError(problem)
