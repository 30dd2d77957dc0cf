"""Labels that are known of a document before it is tagged (warm start): as a matrix, and never an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from longtail import pairs
from longtail.columns import is_sparse, tag_lists
from longtail.errors import UsageError
from longtail.types import Dataset, LabelSet, TopK, label_matrix

if TYPE_CHECKING:
    from scipy.sparse import csr_array

RevealedLike: TypeAlias = "Sequence[Sequence[str]] | csr_array"


def revealed_matrix(revealed: Any, n_documents: int, labels: LabelSet) -> csr_array:
    """Ones at the revealed labels, [documents, labels]; a label that the model does not have is an error."""
    from scipy.sparse import csr_array

    if is_sparse(revealed):
        matrix = csr_array(revealed, dtype=np.float32)
        if matrix.shape != (n_documents, len(labels)):
            raise UsageError(
                f"revealed has shape {matrix.shape}, but there are {n_documents} documents and the model has "
                f"{len(labels)} labels"
            )
        ones = pairs.union([matrix])
        assert ones is not None
        return ones
    if isinstance(revealed, str) or (
        isinstance(revealed, Sequence) and any(isinstance(row, str) for row in revealed)
    ):
        raise UsageError('revealed must be a list of label ids for each document, as in [["a", "b"], []]')
    rows = tag_lists(revealed)
    if len(rows) != n_documents:
        raise UsageError(f"there are {n_documents} documents but {len(rows)} lists of revealed labels")
    unknown = next((label for row in rows for label in row if label not in labels.index), None)
    if unknown is not None:
        raise UsageError(f"the revealed label {unknown!r} is none of the model's labels: leave it out")
    return label_matrix(rows, labels)


def revealed_of(data: Dataset, labels: LabelSet) -> csr_array | None:
    """The revealed labels of a data set over the labels of a model, matched by id; others are left out."""
    if data.revealed is None or data.labels is labels:
        return data.revealed
    columns = np.array([labels.index.get(label, -1) for label in data.labels.ids], dtype=np.int64)
    return pairs.with_columns(data.revealed, columns, len(labels))


def without_revealed(answer: TopK, revealed: csr_array, k: int) -> TopK:
    """The first k answers of each document that are not revealed."""
    from longtail.metrics.ranking import remove_filtered

    return TopK(*remove_filtered(answer.indices, answer.scores, revealed, k))
