"""How many documents two labels share: the plain alternative to a walk."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail import threads
from longtail.graph.membership import Membership, checked_heads
from longtail.graph.pruning import FEW_ROWS, insert_strongest, order_by_id
from longtail.graph.rows import Slots
from longtail.kernels import kernel


def cooccurrence_counts(Y: csr_array, *, heads: np.ndarray | None = None, keep: int = 10) -> csr_array:
    """Y^T Y with the ``keep`` largest entries a row; the whole product never exists.

    As in the graph of walks: a head label has nothing but a self-loop of 1 and nobody has an edge to it, the
    diagonal is always kept (1 for a label without documents), equal counts go by the smaller label.

    Shapes:
        Y [n, L] -> float32 [L, L]
    """
    n_labels = Y.shape[1]
    cut = checked_heads(heads, n_labels)
    pairs = Membership(Y)
    slots = Slots(n_labels, n_labels, keep)

    def count(labels: tuple[int, int]) -> None:
        start, stop = labels
        _count(
            start,
            stop,
            *pairs.arrays,
            cut,
            slots.ids[start:stop],
            slots.values[start:stop],
            slots.counts[start:stop],
        )

    threads.run_all(count, threads.blocks(n_labels, smallest=FEW_ROWS))
    return slots.to_csr()


@kernel
def _count(
    start: int,
    stop: int,
    label_ptr: np.ndarray,
    label_documents: np.ndarray,
    document_ptr: np.ndarray,
    document_labels: np.ndarray,
    heads: np.ndarray,
    out_ids: np.ndarray,
    out_values: np.ndarray,
    out_counts: np.ndarray,
) -> None:
    # One row of the product at a time, in scratch of one number a label.
    shared = np.zeros(len(heads), np.int64)
    met = np.empty(len(heads), np.int32)
    for label in range(start, stop):
        ids, values = out_ids[label - start], out_values[label - start]
        ids[0], values[0], out_counts[label - start] = label, 1, 1
        if heads[label] or label_ptr[label] == label_ptr[label + 1]:
            continue
        n_met = 0
        for document in label_documents[label_ptr[label] : label_ptr[label + 1]]:
            for other in document_labels[document_ptr[document] : document_ptr[document + 1]]:
                if not heads[other]:
                    if shared[other] == 0:
                        met[n_met] = other
                        n_met += 1
                    shared[other] += 1
        values[0] = shared[label]
        found = 0
        for other in met[:n_met]:
            if other != label:
                found = insert_strongest(ids[1:], values[1:], found, other, shared[other])
            shared[other] = 0
        order_by_id(ids, values, found + 1)
        out_counts[label - start] = found + 1
