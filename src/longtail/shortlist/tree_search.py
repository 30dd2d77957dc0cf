"""Beam search down a label tree with sparse linear classifiers at its nodes.

The weights of a node's children are stored together by feature (``TreeWeights``), with a small hash table from
feature to row a node. A document's features are looked up once a node, and every hit adds to all children at
once: the cost follows the document's words, not the number of labels.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from longtail import threads
from longtail.shortlist.tree_weights import TreeWeights

CUBED_HINGE, SQUARED_HINGE, LOGISTIC = 0, 1, 2
LINKS = {"cubed_hinge": CUBED_HINGE, "squared_hinge": SQUARED_HINGE, "logistic": LOGISTIC}
"""How a raw score becomes the logarithm of a (pseudo-)probability."""

_FEW = 32
"""So few documents are tagged in the calling thread: handing them to a pool would take longer."""


class TreeSearch:
    """The trained tree, ready to tag documents."""

    def __init__(self, weights: TreeWeights) -> None:
        self.weights = weights
        self._slot_ptr, self._slots = _hash_features(weights.feature_ptr, weights.features)

    def top_k(self, X: csr_array, k: int, *, beam: int, link: str) -> tuple[np.ndarray, np.ndarray]:
        """The best k labels of each row of X: int32 [n, k] (-1 padded) and float32 log-scores [n, k]."""
        n = X.shape[0]
        labels = np.full((n, k), -1, np.int32)
        scores = np.full((n, k), -np.inf, np.float32)
        w = self.weights
        # One type of index, so that the kernel is compiled once.
        indptr, indices, data = X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False), X.data

        def tag(rows: tuple[int, int]) -> None:
            _search(
                indptr[rows[0] : rows[1] + 1],
                indices,
                data,
                w.child_ptr,
                w.label_order,
                self._slot_ptr,
                self._slots,
                w.row_ptr,
                w.columns,
                w.values,
                w.bias,
                beam,
                LINKS[link],
                labels[rows[0] : rows[1]],
                scores[rows[0] : rows[1]],
            )

        if n <= _FEW:
            tag((0, n))
        else:
            threads.run_all(tag, threads.blocks(n, smallest=_FEW))
        return labels, scores


@njit(nogil=True, cache=True)
def _slot(feature: int, size: int) -> np.int64:
    """Where to look first for a feature in a table of ``size`` (a power of two) slots."""
    mixed = (np.uint64(feature) * np.uint64(2654435769)) & np.uint64(0xFFFFFFFF)
    return np.int64((mixed * np.uint64(size)) >> np.uint64(32))


@njit(nogil=True, cache=True)
def _hash_features(feature_ptr: np.ndarray, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A table a node from feature to row: ``slots[s] = (feature, row)``, feature -1 where it is free."""
    n_nodes = len(feature_ptr) - 1
    slot_ptr = np.zeros(n_nodes + 1, np.int64)
    for node in range(n_nodes):
        size = 2
        while size < 2 * (feature_ptr[node + 1] - feature_ptr[node]):
            size *= 2
        slot_ptr[node + 1] = slot_ptr[node] + size
    slots = np.full((slot_ptr[-1], 2), -1, np.int32)
    for node in range(n_nodes):
        first, size = slot_ptr[node], slot_ptr[node + 1] - slot_ptr[node]
        for row in range(feature_ptr[node], feature_ptr[node + 1]):
            at = _slot(features[row], size)
            while slots[first + at, 0] >= 0:
                at = (at + 1) & (size - 1)
            slots[first + at, 0] = features[row]
            slots[first + at, 1] = row
    return slot_ptr, slots


@njit(nogil=True, cache=True)
def _log_probability(score: np.float32, link: int) -> np.float32:
    if link == LOGISTIC:
        # log(1 / (1 + exp(-s))) without overflow on either side.
        if score > 0:
            return np.float32(-np.log1p(np.exp(-score)))
        return np.float32(score - np.log1p(np.exp(score)))
    missing = max(np.float32(0), np.float32(1) - score)
    return -missing * missing * (missing if link == CUBED_HINGE else np.float32(1))


@njit(nogil=True, cache=True)
def _keep_best(ids: np.ndarray, scores: np.ndarray, count: int, new_id: int, new_score: np.float32) -> int:
    """Insert into a list sorted by (score descending, id ascending) that holds at most len(ids) entries."""
    limit = len(ids)
    if count == limit:
        last = scores[limit - 1]
        if new_score < last or (new_score == last and new_id > ids[limit - 1]):
            return count
        at = limit - 1
    else:
        at = count
        count += 1
    while at > 0 and (scores[at - 1] < new_score or (scores[at - 1] == new_score and ids[at - 1] > new_id)):
        scores[at] = scores[at - 1]
        ids[at] = ids[at - 1]
        at -= 1
    scores[at] = new_score
    ids[at] = new_id
    return count


@njit(nogil=True, cache=True)
def _search(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    child_ptr: np.ndarray,
    label_order: np.ndarray,
    slot_ptr: np.ndarray,
    slots: np.ndarray,
    row_ptr: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    bias: np.ndarray,
    beam: int,
    link: int,
    out_labels: np.ndarray,
    out_scores: np.ndarray,
) -> None:
    n_nodes = len(child_ptr) - 1
    widest = 0
    for node in range(n_nodes):
        widest = max(widest, child_ptr[node + 1] - child_ptr[node])
    scores = np.empty(widest, np.float32)
    beam_ids, beam_scores = np.empty(beam, np.int64), np.empty(beam, np.float32)
    next_ids, next_scores = np.empty(beam, np.int64), np.empty(beam, np.float32)
    for i in range(len(indptr) - 1):
        beam_ids[0], beam_scores[0], in_beam = 0, 0, 1
        found = 0
        while in_beam:
            in_next = 0
            for b in range(in_beam):
                node = beam_ids[b]
                first_child = child_ptr[node]
                n_children = child_ptr[node + 1] - first_child
                for c in range(n_children):
                    # Children are numbered from 1: the root is nobody's child.
                    scores[c] = bias[first_child - 1 + c]
                first_slot = slot_ptr[node]
                size = slot_ptr[node + 1] - first_slot
                for p in range(indptr[i], indptr[i + 1]):
                    feature = indices[p]
                    at = _slot(feature, size)
                    while slots[first_slot + at, 0] >= 0:
                        if slots[first_slot + at, 0] == feature:
                            row = slots[first_slot + at, 1]
                            for q in range(row_ptr[row], row_ptr[row + 1]):
                                scores[columns[q]] += data[p] * values[q]
                            break
                        at = (at + 1) & (size - 1)
                for c in range(n_children):
                    score = beam_scores[b] + _log_probability(scores[c], link)
                    child = first_child + c
                    if child < n_nodes:
                        in_next = _keep_best(next_ids, next_scores, in_next, child, score)
                    else:
                        label = label_order[child - n_nodes]
                        found = _keep_best(out_labels[i], out_scores[i], found, label, score)
            beam_ids, next_ids = next_ids, beam_ids
            beam_scores, next_scores = next_scores, beam_scores
            in_beam = in_next
