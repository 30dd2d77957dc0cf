"""Corrections that count at once: documents with feedback become documents of the nearest-neighbour member.

A model in service is never changed. Learning makes another one, which shares all parts that stay as they are, so a
prediction sees the state before a correction or after it.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from longtail.serving.feedback import Feedback
from longtail.systems.base import System
from longtail.types import Dataset, Documents, LabelSet, label_matrix


@dataclass(frozen=True, slots=True, eq=False)
class LearnedModel:
    """A model and the corrections that it has learned, as ids of its documents."""

    system: System
    corrections: frozenset[str] = frozenset()

    @property
    def can_learn(self) -> bool:
        """Whether the model, or a member of it, takes documents after training."""
        return self.system.capabilities.new_documents

    def after(self, entries: Iterable[Feedback]) -> LearnedModel:
        """What the model is after this feedback; a later entry on the same document takes the place of an earlier.

        Rejected labels are not learned, and neither are labels that the model does not have.
        """
        last = {document_id(entry): entry for entry in entries}
        stale = self.corrections.intersection(last)
        known = self.system.labels_.index
        new = {id_: entry for id_, entry in last.items() if any(label in known for label in entry.labels)}
        if not self.can_learn or not (stale or new):
            return self
        system = copy.copy(self.system)
        if stale:
            system.remove_documents(sorted(stale))
        if new:
            data = _as_data(new, system.labels_)
            system.add_documents(data)
            # Parts of the index that are made when they are first needed are made before requests need them.
            system.predict(data.documents[:1], k=1)
        return LearnedModel(system, (self.corrections - stale) | frozenset(new))

    def has(self, entry: Feedback) -> bool:
        """Whether the document of this entry is among those that were learned."""
        return document_id(entry) in self.corrections


def document_id(entry: Feedback) -> str:
    """The id of a correction in the model.

    It is not the id of the document: a document that is asked for again is not its own neighbour, but a correction
    must count. It is a number, as numbers in a model say nothing of who is who: were the ids of all training
    documents numbers and these not, the others would begin to mean something.
    """
    return str(int(hashlib.sha256(entry.document_key.encode()).hexdigest(), 16))


def _as_data(entries: dict[str, Feedback], labels: LabelSet) -> Dataset:
    rows = [[label for label in entry.labels if label in labels.index] for entry in entries.values()]
    # The few labels in use, not all of the model.
    used = LabelSet([], []).extended(label for row in rows for label in row)
    documents = [entry.document for entry in entries.values()]
    columns = Documents(list(entries), [d.title for d in documents], [d.text for d in documents])
    return Dataset(columns, used, label_matrix(rows, used))
