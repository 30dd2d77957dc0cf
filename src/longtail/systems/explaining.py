"""``System.explain``: checks what is asked, has the system explain it, and adds what ``predict`` says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from longtail.errors import UsageError
from longtail.types import Documents, DocumentsLike, Edges, LabelSet

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from longtail.explain import Explanation
    from longtail.shortlist.candidate_features import EncodedDocuments
    from longtail.systems.base import System
    from longtail.systems.revealed import RevealedLike

DEPTH = 100
"""Answers among which the score of a label that was asked for is looked up."""


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
    from longtail.explain import Asked, Explanation

    some, known, links = _the_only(list(system._batches(document, k, revealed, edges)))
    top = system.predict(some, k=k if label is None else max(k, DEPTH), revealed=known, edges=links)
    scores = dict(zip(top.indices[0].tolist(), top.scores[0].tolist(), strict=True))
    scores.pop(-1, None)
    wanted = list(scores) if label is None else _columns(label, system.labels_)

    def encode(documents: Documents) -> EncodedDocuments:
        rows = None if known is None else known[np.zeros(len(documents), np.int64)]
        return system._encoded(documents, rows, links)

    columns = np.unique(np.array(wanted, np.int32))
    asked = Asked(some[0], columns, system.labels_, tuple(system.config.fields), encode)
    found = system._explain(asked) if len(columns) else []
    by_column = dict(zip(columns.tolist(), found, strict=True))
    return Explanation(
        asked.text, [replace(by_column[column], score=scores.get(column)) for column in wanted]
    )


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
