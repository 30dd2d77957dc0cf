"""Beam search down a label tree with sparse linear classifiers at its nodes.

The weights of a level are stored by feature, then by node (``TreeWeights``): a document's feature is looked up
once a level, and the nodes that weigh it lie side by side. Those in the beam add to all their children at
once. The cost follows the document's words, not the number of labels.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail import threads
from longtail.kernels import kernel
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
        self.first_row = _first_rows(weights.level_ptr, weights.row_feature)

    def top_k(self, X: csr_array, k: int, *, beam: int, link: str) -> tuple[np.ndarray, np.ndarray]:
        """The best k labels of each row of X: int32 [n, k] (-1 padded) and float32 log-scores [n, k]."""
        n = X.shape[0]
        labels = np.full((n, k), -1, np.int32)
        scores = np.full((n, k), -np.inf, np.float32)
        w = self.weights
        # A wider beam than there are nodes changes nothing.
        beam = min(beam, len(w.child_ptr) - 1)
        # One type of index, so that the kernel is compiled once.
        indptr, indices, data = X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False), X.data

        def tag(rows: tuple[int, int]) -> None:
            _search(
                indptr[rows[0] : rows[1] + 1],
                indices,
                data,
                w.child_ptr,
                w.label_order,
                self.first_row,
                w.row_node,
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


@kernel
def _first_rows(level_ptr: np.ndarray, row_feature: np.ndarray) -> np.ndarray:
    """For each feature and level the number of its first row; the next feature's is the end.

    Feature by feature, so that what is read of a feature lies in one place.
    """
    n_features = 1
    for feature in row_feature:
        n_features = max(n_features, feature + 1)
    first = np.empty((n_features + 1, len(level_ptr) - 1), np.int64)
    for level in range(len(level_ptr) - 1):
        row = level_ptr[level]
        for feature in range(n_features + 1):
            first[feature, level] = row
            while row < level_ptr[level + 1] and row_feature[row] == feature:
                row += 1
    return first


@kernel
def _find(sorted_values: np.ndarray, first: int, last: int, wanted: int) -> int:
    """Where ``wanted`` is between ``first`` and ``last``, or -1."""
    end = last
    while first < last:
        middle = (first + last) >> 1
        if sorted_values[middle] < wanted:
            first = middle + 1
        else:
            last = middle
    return first if first < end and sorted_values[first] == wanted else -1


@kernel
def _log_probability(score: np.float32, link: int) -> np.float32:
    if link == LOGISTIC:
        # log(1 / (1 + exp(-s))) without overflow on either side.
        if score > 0:
            return np.float32(-np.log1p(np.exp(-score)))
        return np.float32(score - np.log1p(np.exp(score)))
    missing = max(np.float32(0), np.float32(1) - score)
    return -missing * missing * (missing if link == CUBED_HINGE else np.float32(1))


@kernel
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


@kernel
def _search(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    child_ptr: np.ndarray,
    label_order: np.ndarray,
    first_row: np.ndarray,
    row_node: np.ndarray,
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
    n_features = len(first_row) - 1
    widest = 0
    for node in range(n_nodes):
        widest = max(widest, child_ptr[node + 1] - child_ptr[node])
    scores = np.empty((beam, widest), np.float32)
    place = np.full(n_nodes, -1, np.int32)  # of a node in the beam
    beam_ids, beam_scores = np.empty(beam, np.int64), np.empty(beam, np.float32)
    next_ids, next_scores = np.empty(beam, np.int64), np.empty(beam, np.float32)
    candidates = np.empty(out_labels.shape[1], np.int64)
    most = 0
    for i in range(len(indptr) - 1):
        most = max(most, indptr[i + 1] - indptr[i])
    # Where the rows of a document's features are, and those of nodes in the beam.
    first, last = np.empty(most, np.int64), np.empty(most, np.int64)
    rows, places = np.empty(most * beam, np.int64), np.empty(most * beam, np.int32)
    weights = np.empty(most * beam, np.float32)
    starts, ends = np.empty(most * beam, np.int64), np.empty(most * beam, np.int64)
    for i in range(len(indptr) - 1):
        n = indptr[i + 1] - indptr[i]
        beam_ids[0], beam_scores[0], in_beam = 0, 0, 1
        found = 0
        for level in range(first_row.shape[1]):
            for b in range(in_beam):
                node = beam_ids[b]
                place[node] = b
                for c in range(child_ptr[node + 1] - child_ptr[node]):
                    # Children are numbered from 1: the root is nobody's child.
                    scores[b, c] = bias[child_ptr[node] - 1 + c]
            # Each step below is a loop of its own: its reads from far places then wait for memory together,
            # not one after the other.
            for j in range(n):
                feature = indices[indptr[i] + j]
                known = feature < n_features
                first[j] = first_row[feature, level] if known else 0
                last[j] = first_row[feature + 1, level] if known else 0
            n_rows = 0
            for j in range(n):
                if last[j] - first[j] <= 32 * in_beam:
                    for row in range(first[j], last[j]):
                        b = place[row_node[row]]
                        if b >= 0:
                            rows[n_rows], places[n_rows] = row, b
                            weights[n_rows] = data[indptr[i] + j]
                            n_rows += 1
                else:
                    for b in range(in_beam):
                        row = _find(row_node, first[j], last[j], beam_ids[b])
                        if row >= 0:
                            rows[n_rows], places[n_rows] = row, b
                            weights[n_rows] = data[indptr[i] + j]
                            n_rows += 1
            for j in range(n_rows):
                starts[j], ends[j] = row_ptr[rows[j]], row_ptr[rows[j] + 1]
            for j in range(n_rows):
                b, weight = places[j], weights[j]
                for q in range(starts[j], ends[j]):
                    scores[b, columns[q]] += weight * values[q]
            in_next = 0
            for b in range(in_beam):
                node = beam_ids[b]
                place[node] = -1
                first_child, n_children = child_ptr[node], child_ptr[node + 1] - child_ptr[node]
                if first_child < n_nodes:
                    best_ids, best_scores, count = next_ids, next_scores, in_next
                else:
                    best_ids, best_scores, count = candidates, out_scores[i], found
                worst = best_scores[-1] if count == len(best_ids) else -np.inf
                for c in range(n_children):
                    score = beam_scores[b] + _log_probability(scores[b, c], link)
                    # Nearly all children end here: only the rest is worth a call.
                    if score >= worst:
                        child = first_child + c
                        if child >= n_nodes:
                            child = label_order[child - n_nodes]
                        count = _keep_best(best_ids, best_scores, count, child, score)
                        worst = best_scores[-1] if count == len(best_ids) else -np.inf
                if first_child < n_nodes:
                    in_next = count
                else:
                    found = count
            beam_ids, next_ids = next_ids, beam_ids
            beam_scores, next_scores = next_scores, beam_scores
            in_beam = in_next
        out_labels[i, :found] = candidates[:found]
