"""What the working thread does with requests: tags the documents of several requests in one call, explains one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from longtail.serving.registry import Served
from longtail.serving.schemas import DocumentIn
from longtail.systems.label_choice import PrecisionBy
from longtail.types import Document, Documents

Labels = list[dict[str, Any]]
"""The labels of one document as they are sent: id, text, score (float32)."""


@dataclass(frozen=True, slots=True)
class Choice:
    """How labels are chosen; documents of requests with equal choices are tagged in one call."""

    k: int = 5
    threshold: float | None = None
    precision: float | None = None
    max_f1: bool = False
    precision_by: PrecisionBy = "all"


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """The documents of one request, with the model that it found when it came."""

    served: Served
    choice: Choice
    documents: Sequence[DocumentIn]
    revealed: Sequence[Sequence[str]] | None = None

    @property
    def kind(self) -> tuple[Any, ...]:
        """Requests of equal kinds share a call without any influence on each other.

        The most labels that are revealed for a document decide how deep a search goes, so they are part of it.
        """
        most = -1 if self.revealed is None else max(map(len, self.revealed), default=0)
        return (self.served, self.choice, most)


def tag(requests: Sequence[Work]) -> list[list[Labels]]:
    """The labels of each document of each request."""
    first = requests[0]
    known = None
    if first.revealed is not None:
        known = [row for request in requests for row in request.revealed or ()]
    documents = anonymous([document for request in requests for document in request.documents])
    choice = first.choice
    best = first.served.system.predict(
        documents,
        k=choice.k,
        threshold=choice.threshold,
        precision=choice.precision,
        max_f1=choice.max_f1,
        precision_by=choice.precision_by,
        revealed=known,
    )
    texts = first.served.system.labels_.texts
    # Names leave out the padding at the end of a row.
    rows: list[Labels] = [
        [
            {"id": name, "text": texts[label], "score": score}
            for name, label, score in zip(names, found, scores, strict=False)
        ]
        for names, found, scores in zip(best.labels, best.indices.tolist(), best.scores, strict=True)
    ]
    answers = []
    start = 0
    for request in requests:
        answers.append(rows[start : start + len(request.documents)])
        start += len(request.documents)
    return answers


def anonymous(documents: Sequence[DocumentIn]) -> Documents:
    """Documents without the ids of clients: a model takes an id for that of a training document."""
    return Documents(
        [f"\0{number}" for number in range(len(documents))],
        [document.title for document in documents],
        [document.text for document in documents],
    )


@dataclass(frozen=True, slots=True, eq=False)
class Why:
    """A document whose labels are to be explained; no label named: the k best."""

    served: Served
    document: DocumentIn
    labels: Sequence[str] | None
    k: int
    revealed: Sequence[str] | None = None


def explain(requests: Sequence[Why]) -> list[dict[str, Any]]:
    """The explanations of requests, one by one."""
    answers = []
    for request in requests:
        document = Document("\0", request.document.title, request.document.text)
        known = None if request.revealed is None else [request.revealed]
        found = request.served.system.explain(document, request.labels, k=request.k, revealed=known)
        answers.append(found.to_dict())
    return answers
