"""The path to a label in a tree, and what each feature of a document adds to the raw scores along it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from longtail.kernels import kernel
from longtail.shortlist.tree_search import CUBED_HINGE, LINKS, LOGISTIC, TreeSearch


@dataclass(frozen=True, slots=True, eq=False)
class PathScores:
    """The raw scores of the classifiers on the way to a label.

    Shapes:
        bias float64 [levels], products float64 [levels, features of the document]
    """

    bias: np.ndarray
    products: np.ndarray

    @property
    def raw(self) -> np.ndarray:
        """The raw score of each classifier [levels]."""
        return np.asarray(self.bias + self.products.sum(axis=1))


def path_scores(tree: TreeSearch, label: int, indices: np.ndarray, data: np.ndarray) -> PathScores | None:
    """Those of one document's row; None: the label is not in the tree (it had no documents in training)."""
    weights = tree.weights
    at = np.flatnonzero(weights.label_order == label)
    if not len(at):
        return None
    n_nodes = len(weights.child_ptr) - 1
    path, child = [], n_nodes + int(at[0])
    while child > 0:
        node = int(np.searchsorted(weights.child_ptr, child, side="right")) - 1
        path.append((node, child))
        child = node
    nodes, children = np.array(path[::-1], np.int64).T
    products = _products(
        indices.astype(np.int32, copy=False),
        data.astype(np.float32, copy=False),
        np.ascontiguousarray(nodes),
        children - weights.child_ptr[nodes],
        tree.first_row,
        weights.row_node,
        weights.row_ptr,
        weights.columns,
        weights.values,
    )
    return PathScores(weights.bias[children - 1].astype(np.float64), products)


def log_link(raw: np.ndarray, link: str) -> np.ndarray:
    """The logarithm of the (pseudo-)probability of raw scores, as the search takes it."""
    kind = LINKS[link]
    if kind == LOGISTIC:
        return np.asarray(-np.logaddexp(0, -raw))
    return np.asarray(-(np.maximum(1 - raw, 0) ** (3 if kind == CUBED_HINGE else 2)))


@kernel
def _products(
    indices: np.ndarray,
    data: np.ndarray,
    nodes: np.ndarray,
    wanted: np.ndarray,
    first_row: np.ndarray,
    row_node: np.ndarray,
    row_ptr: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
) -> np.ndarray:
    out = np.zeros((len(nodes), len(indices)), np.float64)
    n_features = len(first_row) - 1
    for level in range(len(nodes)):
        for p in range(len(indices)):
            if indices[p] >= n_features:
                continue
            for row in range(first_row[indices[p], level], first_row[indices[p] + 1, level]):
                if row_node[row] == nodes[level]:
                    for q in range(row_ptr[row], row_ptr[row + 1]):
                        if columns[q] == wanted[level]:
                            out[level, p] += data[p] * values[q]
    return out
