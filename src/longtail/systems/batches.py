"""Documents to tag, checked and cut into batches, each with what is known of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from longtail.errors import ModelIntegrityError, UsageError
from longtail.systems.revealed import RevealedLike, revealed_matrix, revealed_of
from longtail.types import Dataset, Document, Documents, DocumentsLike, Edges, TopK

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from longtail.systems.base import System

WIDEST = 1000
BATCH_SIZE = 4096
"""Documents that are tagged in one go: bounds memory, large enough to keep every core busy."""


def batches(
    system: System, documents: DocumentsLike, k: int, revealed: RevealedLike | None, edges: Edges | None
) -> Iterator[tuple[Documents, csr_array | None, Edges | None]]:
    """Checked documents in batches, each with its revealed labels and with all edges."""
    system._check_fitted()
    check_k(k)
    if isinstance(documents, Dataset):
        revealed = revealed_of(documents, system.labels_) if revealed is None else revealed
        edges = documents.edges if edges is None else edges
    documents = _documents(documents, system)
    system._check_documents(documents)
    known = None if revealed is None else revealed_matrix(revealed, len(documents), system.labels_)
    for start in range(0, len(documents), BATCH_SIZE):
        rows = slice(start, start + BATCH_SIZE)
        some = documents if len(documents) <= BATCH_SIZE else documents[rows]
        known_here = None if known is None else known[rows]
        yield some, known_here if known_here is not None and known_here.nnz else None, edges


def _documents(source: DocumentsLike, system: System) -> Documents:
    if isinstance(source, (str, Document, Documents, Dataset)):
        return Documents.of(source)
    if isinstance(source, list) and source and isinstance(source[0], (str, Document)):
        return Documents.of(source)
    # Frames and records are rare here, and reading them needs more of the library.
    from longtail.data.python_documents import documents_of

    return documents_of(source, system.facts_.reading)


class Answers(NamedTuple):
    """The best labels with the system's own scores, with probabilities, and which documents have the latter."""

    own: TopK
    best: TopK
    calibratable: np.ndarray


def check_k(k: object) -> None:
    """Refuse what is not a number of labels."""
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or k < 1:
        raise UsageError(f"k must be a whole number of at least 1, not {k!r}")


def checked_k(k: int, n_labels: int) -> int:
    """How many columns an answer has: beyond ``WIDEST`` no more than labels, the others would be empty."""
    check_k(k)
    return min(int(k), max(n_labels, WIDEST))


def checked_scores(answer: TopK, system: System) -> TopK:
    """The answer, if its scores are numbers: weights that are finite one by one can overflow together."""
    if np.isnan(answer.scores).any():
        raise ModelIntegrityError(
            f"a score of this model of '{system.name}' is not a number: its weights are too large, train it again"
        )
    return answer


def widest(pairs: csr_array | None) -> int:
    """The most pairs of one document."""
    return 0 if pairs is None else int(np.diff(pairs.indptr).max(initial=0))
