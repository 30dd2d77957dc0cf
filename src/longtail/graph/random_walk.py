"""The label correlation graph of ECLARE: how often a restarting walk from one label visits the others.

Algorithm 1 of Mittal et al., WWW 2021: from a label to a random document that has it, to a random label of
that document, and so on, back to the first label with probability ``restart`` before a step.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail import engine, threads
from longtail.errors import UsageError
from longtail.graph.membership import Membership, checked_heads
from longtail.graph.pruning import FEW_ROWS, insert_strongest, order_by_id
from longtail.graph.rows import Slots
from longtail.graph.splitmix import GOLDEN, mix, share
from longtail.kernels import kernel


def walk_counts(
    Y: csr_array,
    *,
    length: int = 400,
    restart: float = 0.8,
    heads: np.ndarray | None = None,
    keep: int = 10,
    seed: int = 0,
) -> csr_array:
    """Visits of a walk of ``length`` steps from each label, the ``keep`` most visited labels a row.

    The walk goes through head labels like any other, but visits to them are not counted, and a head label has
    nothing but a self-loop of 1. The diagonal is always kept and above 0; a label without documents has
    only its self-loop of 1. Each label has a generator of its own, seeded by (seed, label).

    Args:
        Y: documents x labels; what is stored is a label.
        length: steps of the walk from one label.
        restart: the probability of going back to the first label before a step.
        heads: which labels are cut out of the graph, bool [labels]; None: none.
        keep: the most edges a label, its self-loop among them; equal counts by the smaller label.

    Shapes:
        Y [n, L] -> float32 [L, L], row l = the walk from label l
    """
    if length < 1:
        raise UsageError(f"the walk must have at least 1 step, not {length}")
    if not 0 <= restart <= 1:
        raise UsageError(f"restart is a probability between 0 and 1, not {restart}")
    n_labels = Y.shape[1]
    cut = checked_heads(heads, n_labels)
    pairs = Membership(Y)
    slots = Slots(n_labels, n_labels, keep)
    first_state = np.uint64(seed % 2**64)

    shared = (pairs.arrays, cut, length, restart, first_state, slots.ids.shape[1])
    parts = threads.blocks(n_labels, smallest=FEW_ROWS)
    for (start, stop), found in zip(parts, engine.in_use().map(_walks, shared, parts), strict=True):
        slots.ids[start:stop], slots.values[start:stop], slots.counts[start:stop] = found
    return slots.to_csr()


Pairs = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _walks(
    shared: tuple[Pairs, np.ndarray, int, float, np.uint64, int], labels: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The walks from some labels: ids and counts of visits, and how many there are of each label."""
    pairs, heads, length, restart, seed, keep = shared
    start, stop = labels
    slots = Slots(stop - start, len(heads), keep)
    out = slots.ids, slots.values, slots.counts
    _walk(start, stop, *pairs, heads, length, restart, seed, *out)
    return out


@kernel
def _one_of(values: np.ndarray, first: int, last: int, random: np.uint64) -> int:
    """One of ``values[first:last]``, by the upper half of 64 random bits."""
    place = ((random >> np.uint64(32)) * np.uint64(last - first)) >> np.uint64(32)
    return int(values[first + np.int64(place)])


@kernel
def _walk(
    start: int,
    stop: int,
    label_ptr: np.ndarray,
    label_documents: np.ndarray,
    document_ptr: np.ndarray,
    document_labels: np.ndarray,
    heads: np.ndarray,
    length: int,
    restart: float,
    seed: np.uint64,
    out_ids: np.ndarray,
    out_values: np.ndarray,
    out_counts: np.ndarray,
) -> None:
    # A head label's count is -1 for good: one look-up a step tells both.
    visits = np.where(heads, np.int32(-1), np.int32(0))
    visited = np.empty(min(length, len(heads)), np.int32)
    for label in range(start, stop):
        ids, values = out_ids[label - start], out_values[label - start]
        ids[0], values[0], out_counts[label - start] = label, 1, 1
        if heads[label] or label_ptr[label] == label_ptr[label + 1]:
            continue
        state = mix(mix(seed + GOLDEN) ^ np.uint64(label))
        here, n_visited = label, 0
        for _ in range(length):
            state += GOLDEN
            if share(mix(state)) < restart:
                here = label
            state += GOLDEN
            document = _one_of(label_documents, label_ptr[here], label_ptr[here + 1], mix(state))
            state += GOLDEN
            here = _one_of(document_labels, document_ptr[document], document_ptr[document + 1], mix(state))
            count = visits[here]
            if count == 0:
                visited[n_visited] = here
                n_visited += 1
            if count >= 0:
                visits[here] = count + 1
        values[0] = max(visits[label], 1)
        found = 0
        for other in visited[:n_visited]:
            if other != label:
                found = insert_strongest(ids[1:], values[1:], found, other, visits[other])
            visits[other] = 0
        order_by_id(ids, values, found + 1)
        out_counts[label - start] = found + 1
