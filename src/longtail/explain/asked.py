"""What is asked: one document, some labels, and a way to have other documents encoded as this one is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from longtail.explain.explanation import LabelExplanation, NearDocument, Neighbour, Word
from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.shortlist.candidates import Candidates
from longtail.text.feature_store import FeatureStore
from longtail.types import Document, Documents, Edges, LabelSet


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """One document and the labels to explain.

    Attributes:
        document: the document.
        labels: columns of the labels, rising, int32 [m].
        known: all labels of the model.
        fields: the fields of a document that the model reads.
        encode: encodes documents of the same id, with the revealed labels and edges of this one.
        revealed: known labels [1, L]; None: none.
        edges: links that came with the document.
    """

    document: Document
    labels: np.ndarray
    known: LabelSet
    fields: tuple[str, ...]
    encode: Callable[[Documents], EncodedDocuments]
    revealed: csr_array | None = None
    edges: Edges | None = None

    @property
    def text(self) -> str:
        """The text that was given: title, newline, text."""
        return Documents.of(self.document).joined()[0]

    @property
    def read(self) -> tuple[str, int]:
        """The part of the text that the model reads, and where it begins in the text that was given."""
        part = Documents.of(self.document).joined(self.fields)[0]
        return part, len(self.text) - len(part) if self.fields == ("text",) else 0

    def store(self) -> FeatureStore:
        """Features of the document."""
        return FeatureStore(Documents.of(self.document))

    def encoded(self) -> EncodedDocuments:
        """The document itself."""
        return self.encode(Documents.of(self.document))

    def candidates(self, n: int = 1) -> Candidates:
        """The labels as candidates of each of n documents."""
        ids = np.tile(self.labels.astype(np.int32), n)
        return Candidates.from_counts(np.full(n, len(self.labels)), ids, np.zeros(len(ids), np.float32))

    def variants(self, removed: Sequence[np.ndarray]) -> Documents:
        """The document without some spans of its text, once for each list of spans int [n, 2] (rising)."""
        title, text = self.document.title, self.document.text
        start = len(title) + 1 if title and text else len(title)
        titles, texts = [], []
        for spans in removed:
            of_title = spans[:, 0] < start
            titles.append(_without(title, spans[of_title]))
            texts.append(_without(text, spans[~of_title] - start))
        n = len(titles)
        extra = [self.document.extra] * n if self.document.extra else None
        return Documents([self.document.id] * n, titles, texts, None, extra)

    def explanation(
        self, label: int, words: list[Word], *, value: float, base: float, exact: bool, unit: str, note: str
    ) -> LabelExplanation:
        """Of the label in this column."""
        return LabelExplanation(
            id=self.known.ids[label],
            text=self.known.texts[label],
            exact=exact,
            note=note,
            value=float(value),
            base=float(base),
            unit=unit,
            words=words,
        )

    def neighbours(self, found: Iterable[tuple[int, float]]) -> list[Neighbour]:
        """Labels by their columns, with their weights."""
        return [Neighbour(self.known.ids[label], self.known.texts[label], weight) for label, weight in found]

    def near_document(self, id_: str, labels: np.ndarray, similarity: float) -> NearDocument:
        """A training document with the labels of these columns."""
        names = [self.known.texts[label] or self.known.ids[label] for label in labels.tolist()]
        return NearDocument(id_, ", ".join(names), float(similarity))


def _without(text: str, spans: np.ndarray) -> str:
    kept, at = [], 0
    for start, end in spans.tolist():
        kept.append(text[at:start])
        at = end
    # An empty field would be read as a missing one.
    return "".join([*kept, text[at:]]) or (" " if text else "")
