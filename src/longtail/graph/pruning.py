"""Keeping few edges a node: the strongest ones, or those between nodes that are alike."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail import threads
from longtail.errors import UsageError
from longtail.graph.rows import Slots, sorted_rows, square_rows
from longtail.kernels import kernel

FEW_ROWS = 1024
"""So few rows are not worth a task of their own."""


def strongest(G: csr_array, keep: int) -> csr_array:
    """The ``keep`` largest entries of each row; equal ones by the smaller column.

    An entry on the diagonal is always among them. Meant for small ``keep``: the cost is a short sorted list a row.
    """
    graph = sorted_rows(G)
    slots = Slots(*graph.shape, keep)

    def prune(rows: tuple[int, int]) -> None:
        start, stop = rows
        _strongest(
            start,
            stop,
            graph.indptr,
            graph.indices,
            graph.data,
            slots.ids[start:stop],
            slots.values[start:stop],
            slots.counts[start:stop],
        )

    threads.run_all(prune, threads.blocks(graph.shape[0], smallest=FEW_ROWS))
    return slots.to_csr()


def drop_distant(G: csr_array, embeddings: np.ndarray, max_distance: float = 1.0) -> csr_array:
    """G without the edges between nodes whose embeddings have a cosine distance above ``max_distance``.

    Self-loops stay, and so do the edges of a node whose embedding is zero, which has no direction. The
    values of the other edges stay as they are.

    Shapes: ``G`` [n, n], ``embeddings`` [n, D].
    """
    graph = square_rows(G)
    if embeddings.ndim != 2 or len(embeddings) != graph.shape[0]:
        raise UsageError(f"a graph {G.shape} needs an embedding a node, but they are {embeddings.shape}")
    vectors = np.ascontiguousarray(embeddings, dtype=np.float32)
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    wanted = np.empty(len(graph.data), np.bool_)

    def mark(rows: tuple[int, int]) -> None:
        start, stop = rows
        _mark_near(start, stop, graph.indptr, graph.indices, vectors, norms, 1.0 - max_distance, wanted)

    threads.run_all(mark, threads.blocks(graph.shape[0], smallest=FEW_ROWS))
    before = np.concatenate([[0], np.cumsum(wanted)])
    return csr_array((graph.data[wanted], graph.indices[wanted], before[graph.indptr]), shape=graph.shape)


@kernel
def insert_strongest(ids: np.ndarray, values: np.ndarray, count: int, new_id: int, new_value: float) -> int:
    """Insert into a list sorted by (value descending, id ascending) that holds at most len(ids) entries."""
    limit = len(ids)
    if count == limit:
        if limit == 0:
            return 0
        last = values[limit - 1]
        if new_value < last or (new_value == last and new_id > ids[limit - 1]):
            return count
        at = limit - 1
    else:
        at = count
        count += 1
    while at > 0 and (values[at - 1] < new_value or (values[at - 1] == new_value and ids[at - 1] > new_id)):
        values[at] = values[at - 1]
        ids[at] = ids[at - 1]
        at -= 1
    values[at] = new_value
    ids[at] = new_id
    return count


@kernel
def order_by_id(ids: np.ndarray, values: np.ndarray, count: int) -> None:
    """Bring the first ``count`` entries, which are few, into the order of their ids."""
    for i in range(1, count):
        new_id, new_value, at = ids[i], values[i], i
        while at > 0 and ids[at - 1] > new_id:
            ids[at] = ids[at - 1]
            values[at] = values[at - 1]
            at -= 1
        ids[at] = new_id
        values[at] = new_value


@kernel
def _strongest(
    start: int,
    stop: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    out_ids: np.ndarray,
    out_values: np.ndarray,
    out_counts: np.ndarray,
) -> None:
    for row in range(start, stop):
        ids, values = out_ids[row - start], out_values[row - start]
        reserved = 0
        for p in range(indptr[row], indptr[row + 1]):
            if indices[p] == row:
                ids[0], values[0], reserved = row, data[p], 1
        found = 0
        for p in range(indptr[row], indptr[row + 1]):
            if indices[p] != row:
                found = insert_strongest(ids[reserved:], values[reserved:], found, indices[p], data[p])
        order_by_id(ids, values, found + reserved)
        out_counts[row - start] = found + reserved


@kernel
def _mark_near(
    start: int,
    stop: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    vectors: np.ndarray,
    norms: np.ndarray,
    least_cosine: float,
    wanted: np.ndarray,
) -> None:
    for row in range(start, stop):
        for p in range(indptr[row], indptr[row + 1]):
            other = indices[p]
            wanted[p] = True
            if other != row and norms[row] > 0 and norms[other] > 0:
                wanted[p] = _dot(vectors[row], vectors[other]) >= least_cosine * norms[row] * norms[other]


@kernel(fastmath={"reassoc", "contract"})
def _dot(a: np.ndarray, b: np.ndarray) -> float:
    total = 0.0
    for i in range(len(a)):
        total += np.float64(a[i]) * np.float64(b[i])
    return total
