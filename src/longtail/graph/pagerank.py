"""Labels near a document's own ones: personalised PageRank over the label graph."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail import threads
from longtail.errors import UsageError
from longtail.graph.pruning import insert_strongest
from longtail.graph.rows import sorted_rows
from longtail.kernels import kernel

FEW_DOCUMENTS = 256
BOUND = 4
"""Times ``size``: at how many labels a document's walk may be; a well-connected graph would lead it everywhere."""


def personalised_neighbours(
    Y_rows: csr_array,
    G: csr_array,
    *,
    restart: float = 0.15,
    rounds: int = 10,
    size: int,
    bound: int | None = None,
) -> np.ndarray:
    """The ``size`` labels with the highest personalised PageRank that are not the document's own.

    Power iteration p <- restart p0 + (1 - restart) p P: p0 is even over the document's labels, P has the rows of G
    divided by their sums (a label without edges keeps what it has). After each round the ``bound`` largest
    entries of p go on (None: four times ``size``). The hard negatives of the ablation ECLARE-PPR; a document
    without labels has none.

    Shapes:
        Y_rows [n, L], G [L, L] not negative -> int32 [n, size], best first, equal ones by the smaller label,
        -1 padded
    """
    if G.shape != (Y_rows.shape[1], Y_rows.shape[1]):
        raise UsageError(f"the graph is {G.shape}, but there are {Y_rows.shape[1]} labels")
    if not 0 <= restart <= 1:
        raise UsageError(f"restart is a probability between 0 and 1, not {restart}")
    bound = BOUND * size if bound is None else bound
    if min(size, rounds, bound) < 1:
        raise UsageError(f"size, rounds and bound must be at least 1, not {size}, {rounds} and {bound}")
    own, graph = sorted_rows(Y_rows), sorted_rows(G)
    steps, sums = graph.row_shares()
    found = np.full((own.shape[0], size), -1, np.int32)

    def rank(rows: tuple[int, int]) -> None:
        start, stop = rows
        _rank(
            own.indptr[start : stop + 1],
            own.indices,
            graph.indptr,
            graph.indices,
            steps,
            sums,
            restart,
            rounds,
            bound,
            found[start:stop],
        )

    threads.run_all(rank, threads.blocks(own.shape[0], smallest=FEW_DOCUMENTS))
    return found


@kernel
def _touch(label: int, touched: np.ndarray, is_touched: np.ndarray, n_touched: int) -> int:
    """Put the label on the list unless it is there; return the length of the list."""
    if is_touched[label]:
        return n_touched
    is_touched[label] = True
    touched[n_touched] = label
    return n_touched + 1


@kernel
def _is_weaker(a: int, b: int, mass: np.ndarray) -> bool:
    return bool(mass[a] < mass[b] or (mass[a] == mass[b] and a > b))


@kernel
def _sink(heap: np.ndarray, at: int, mass: np.ndarray) -> None:
    """Move a label down a heap with the weakest label on top, to where it belongs."""
    label = heap[at]
    child = 2 * at + 1
    while child < len(heap):
        if child + 1 < len(heap) and _is_weaker(heap[child + 1], heap[child], mass):
            child += 1
        if not _is_weaker(heap[child], label, mass):
            break
        heap[at] = heap[child]
        at, child = child, 2 * child + 1
    heap[at] = label


@kernel
def _largest(labels: np.ndarray, mass: np.ndarray, bound: int) -> np.ndarray:
    """The labels with the ``bound`` largest masses (equal ones: the smaller label); other masses become 0."""
    heap = labels[:bound].copy()
    if len(labels) <= bound:
        return heap
    for at in range(bound // 2 - 1, -1, -1):
        _sink(heap, at, mass)
    for label in labels[bound:]:
        if _is_weaker(heap[0], label, mass):
            mass[heap[0]] = 0
            heap[0] = label
            _sink(heap, 0, mass)
        else:
            mass[label] = 0
    return heap


@kernel
def _rank(
    positive_ptr: np.ndarray,
    positive_labels: np.ndarray,
    indptr: np.ndarray,
    indices: np.ndarray,
    steps: np.ndarray,
    sums: np.ndarray,
    restart: float,
    rounds: int,
    bound: int,
    out: np.ndarray,
) -> None:
    n_labels = len(sums)
    # Scratch of a few numbers a label for all documents of the block; what a document touches it clears.
    mass, following = np.zeros(n_labels), np.zeros(n_labels)
    touched, is_touched = np.empty(n_labels, np.int32), np.zeros(n_labels, np.bool_)
    values = np.empty(out.shape[1])
    for i in range(len(out)):
        own = positive_labels[positive_ptr[i] : positive_ptr[i + 1]]
        if len(own) == 0:
            continue
        start = 1.0 / len(own)
        labels = own
        for label in own:
            mass[label] = start
        for _ in range(rounds):
            n_touched = 0
            for label in own:
                following[label] = restart * start
                n_touched = _touch(label, touched, is_touched, n_touched)
            for label in labels:
                going = (1 - restart) * mass[label]
                mass[label] = 0
                if sums[label] <= 0:
                    following[label] += going
                    n_touched = _touch(label, touched, is_touched, n_touched)
                    continue
                for p in range(indptr[label], indptr[label + 1]):
                    following[indices[p]] += going * steps[p]
                    n_touched = _touch(indices[p], touched, is_touched, n_touched)
            for label in touched[:n_touched]:
                is_touched[label] = False
            labels = _largest(touched[:n_touched], following, bound)
            mass, following = following, mass
        for label in own:
            mass[label] = 0
        count = 0
        for label in labels:
            if mass[label] > 0:
                count = insert_strongest(out[i], values, count, label, mass[label])
            mass[label] = 0
