"""How a system explains: checks what is asked, has the system explain it, and adds what ``predict`` says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from longtail.errors import UsageError
from longtail.systems.batches import batches
from longtail.systems.declarations import Capabilities
from longtail.types import Document, Documents, DocumentsLike, Edges, LabelSet

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from longtail.explain import Asked, Context, Explanation, LabelExplanation
    from longtail.shortlist.candidate_features import EncodedDocuments
    from longtail.systems.base import System
    from longtail.systems.revealed import RevealedLike

DEPTH = 100
"""Answers among which the score of a label that was asked for is looked up."""


class Explaining:
    """The part of a system that explains: by occlusion, unless a system has a better way."""

    capabilities: ClassVar[Capabilities]
    candidate_features: ClassVar[tuple[str, ...]]

    def explain(
        self,
        document: DocumentsLike,
        label: str | Sequence[str] | None = None,
        *,
        k: int = 3,
        revealed: RevealedLike | None = None,
        edges: Edges | None = None,
    ) -> Explanation:
        """Why labels have their scores: words that raised and lowered them, and what else the system can say.

        Args:
            document: one text or Document.
            label: a label id, or several; None: the k best labels.
            k: how many labels are explained if none is named.
            revealed: labels known already, as in ``predict``.
            edges: links of the document, as in ``predict``.
        """
        return explained(cast("System", self), document, label, k=k, revealed=revealed, edges=edges)

    def _explain(self, asked: Asked) -> list[LabelExplanation]:
        """Explain the labels asked for, in their order; by default by occlusion, which works with every system."""
        from longtail.explain.occlusion import by_occlusion

        return by_occlusion(asked, unit=f"the feature '{self.candidate_features[0]}'")

    def _context(self, asked: Asked) -> list[Context]:
        """What else speaks for each label; by default the label names in the text, if the system reads names."""
        from longtail.explain.names import named

        return named(asked, wanted=self.capabilities.label_text)


def explained(
    system: System,
    document: DocumentsLike,
    label: str | Sequence[str] | None,
    *,
    k: int,
    revealed: RevealedLike | None,
    edges: Edges | None,
) -> Explanation:
    """Why the labels have their scores, the best first if none is named."""
    from longtail.explain import Explanation

    some, known, links = _the_only(list(batches(system, document, k, revealed, edges)))
    top = system.predict(some, k=k if label is None else max(k, DEPTH), revealed=known, edges=links)
    scores = dict(zip(top.indices[0].tolist(), top.scores[0].tolist(), strict=True))
    scores.pop(-1, None)
    wanted = list(scores) if label is None else _columns(label, system.labels_)

    columns = np.unique(np.array(wanted, np.int32))
    asked = asked_of(system, some[0], columns, known, links)
    by_column = {}
    if len(columns):
        for column, found, more in zip(
            columns.tolist(), system._explain(asked), system._context(asked), strict=True
        ):
            by_column[column] = replace(
                found,
                score=scores.get(column),
                names=more.names,
                neighbours=more.neighbours,
                documents=more.documents,
            )
    return Explanation(asked.text, [by_column[column] for column in wanted])


def asked_of(
    system: System, document: Document, columns: np.ndarray, revealed: csr_array | None, edges: Edges | None
) -> Asked:
    """The question as this system gets it: every variant of the document has its revealed labels and edges."""
    from longtail.explain import Asked

    def encode(documents: Documents) -> EncodedDocuments:
        rows = None if revealed is None else revealed[np.zeros(len(documents), np.int64)]
        return system._encoded(documents, rows, edges)

    fields = tuple(system.config.fields)
    return Asked(document, columns, system.labels_, fields, encode, revealed, edges)


Batch = tuple[Documents, "csr_array | None", Edges | None]


def _the_only(batches: list[Batch]) -> Batch:
    n = sum(len(documents) for documents, _, _ in batches)
    if n != 1:
        raise UsageError(f"one document is explained at a time, not {n}")
    if batches[0][0].features is not None:
        raise UsageError("a feature row has no words to explain: give a text")
    return batches[0]


def _columns(label: str | Sequence[str], labels: LabelSet) -> list[int]:
    ids = [label] if isinstance(label, str) else list(label)
    unknown = next((id_ for id_ in ids if id_ not in labels.index), None)
    if unknown is not None:
        raise UsageError(f"the model has no label {unknown!r}")
    return [labels.index[id_] for id_ in dict.fromkeys(ids)]
