"""The trained classifiers of a label tree, laid out for search: level by level, and within a level by feature."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import hstack

from longtail.cluster.label_tree import LabelTree
from longtail.errors import ModelIntegrityError
from longtail.kernels import kernel
from longtail.solvers.classifiers import SparseWeights
from longtail.storage.schema import ArraySet, array


@dataclass(frozen=True, slots=True, eq=False)
class TreeWeights(ArraySet):
    """Nodes are numbered level by level from the root, 0; the labels follow behind the last node.

    The children of node p are ``child_ptr[p]`` to ``child_ptr[p + 1]``; child number c is the label
    ``label_order[c - n_nodes]`` if c >= n_nodes, and has the bias ``bias[c - 1]`` (the root is no child).

    The weights come in rows, one per pair of a feature and a node that weighs it, sorted by level, feature and
    node: level t has the rows ``level_ptr[t]`` to ``level_ptr[t + 1]``. Row r is about ``row_feature[r]`` at
    ``row_node[r]``; its weights are at ``row_ptr[r]`` to ``row_ptr[r + 1]`` in ``columns`` (which of the node's
    children) and ``values``.
    """

    child_ptr: np.ndarray = array(
        "int64", "nodes + 1", pointer_from=1, pointer_into="children + 1", stored="deltas"
    )
    label_order: np.ndarray = array("int32", "leaves", index_below="labels", stored="deltas")
    level_ptr: np.ndarray = array("int64", "levels + 1", pointer_into="rows")
    row_feature: np.ndarray = array("int32", "rows", index_below="features", stored="deltas")
    row_node: np.ndarray = array("int32", "rows", index_below="nodes", stored="deltas")
    row_ptr: np.ndarray = array("int64", "rows + 1", pointer_into="weights", stored="deltas")
    columns: np.ndarray = array("uint16", "weights", stored="deltas")
    values: np.ndarray = array("float32", "weights", stored="float16")
    bias: np.ndarray = array("float32", "children")

    @classmethod
    def join(cls, tree: LabelTree, nodes: Iterable[Sequence[SparseWeights]]) -> TreeWeights:
        """Lay out what was trained: for each node in order, its children's classifiers, in a few parts.

        Nodes are taken one after another, so that whoever gives them need not keep them.
        """
        counts = [len(level) - 1 for level in tree.children]
        starts = np.cumsum(counts)
        child_ptr = [level[:-1] + start for level, start in zip(tree.children, starts, strict=True)]
        features, sizes, columns, values, bias = [], [], [], [], []
        for parts in nodes:
            bias += [part.bias for part in parts]
            if not parts:
                features.append(np.zeros(0, np.int32))
                sizes.append(np.zeros(0, np.int64))
                continue
            # All parts of a node were trained on the same documents, so their features are the same.
            weights = (
                parts[0].weights if len(parts) == 1 else hstack([p.weights for p in parts], format="csr")
            )
            size = np.diff(weights.indptr)
            features.append(parts[0].features[size > 0])
            sizes.append(size[size > 0])
            columns.append(weights.indices.astype(np.uint16))
            values.append(weights.data)
        row_node = np.repeat(np.arange(len(features)), [len(rows) for rows in features]).astype(np.int32)
        row_feature = np.concatenate(features).astype(np.int32)
        row_level = np.repeat(np.arange(len(counts)), counts)[row_node]
        order = np.lexsort((row_node, row_feature, row_level))
        row_ptr = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
        all_columns, all_values = np.concatenate(columns), np.concatenate(values)
        # The parts are most of the memory of a large tree.
        del columns, values
        new_ptr, new_columns, new_values = _reorder(row_ptr, all_columns, all_values, order)
        return cls(
            child_ptr=np.concatenate([*child_ptr, [starts[-1] + len(tree.label_order)]]).astype(np.int64),
            label_order=tree.label_order.astype(np.int32),
            level_ptr=np.searchsorted(row_level[order], np.arange(len(counts) + 1)).astype(np.int64),
            row_feature=row_feature[order],
            row_node=row_node[order],
            row_ptr=new_ptr,
            columns=new_columns,
            values=new_values,
            bias=np.concatenate(bias).astype(np.float32),
        )

    def check_relations(self) -> None:
        """That nodes and rows are in the order of the levels, and rows weigh children that their node has."""
        n_nodes = len(self.child_ptr) - 1
        if n_nodes < 1 or len(self.bias) + 1 != n_nodes + len(self.label_order):
            raise ModelIntegrityError("the nodes and their children do not fit together")
        if len(np.unique(self.label_order)) < len(self.label_order):
            raise ModelIntegrityError("a label is in the tree twice")
        starts = _level_starts(self.child_ptr)
        if len(starts) != len(self.level_ptr):
            raise ModelIntegrityError(
                f"level_ptr must be of {len(starts) - 1} levels of nodes, not of {len(self.level_ptr) - 1}"
            )
        self._check_rows(starts)
        children = np.repeat(np.diff(self.child_ptr)[self.row_node], np.diff(self.row_ptr))
        if (self.columns >= children).any():
            raise ModelIntegrityError("a row weighs children that its node does not have")

    def _check_rows(self, starts: np.ndarray) -> None:
        level = np.repeat(np.arange(len(starts) - 1), np.diff(self.level_ptr))
        if ((self.row_node < starts[level]) | (self.row_node >= starts[level + 1])).any():
            raise ModelIntegrityError("a row is of a node on another level")
        feature, node = self.row_feature, self.row_node
        rises = (feature[1:] > feature[:-1]) | ((feature[1:] == feature[:-1]) & (node[1:] > node[:-1]))
        if not (rises | (level[1:] > level[:-1])).all():
            raise ModelIntegrityError("the rows of a level must be in the order of features and nodes")


def _level_starts(child_ptr: np.ndarray) -> np.ndarray:
    """The first node of every level, and the number of nodes: the children of a level are the next level.

    Only nodes of the last level have labels as children: a search would take a label among nodes for a node.
    """
    n_nodes = len(child_ptr) - 1
    starts = [0]
    while starts[-1] < n_nodes:
        starts.append(int(child_ptr[starts[-1]]))
        if not starts[-2] < starts[-1] <= n_nodes:
            raise ModelIntegrityError(
                "the children of nodes on one level must be the nodes of the next, or labels"
            )
    return np.array(starts, np.int64)


@kernel
def _reorder(
    row_ptr: np.ndarray, columns: np.ndarray, values: np.ndarray, order: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows in another order."""
    new_ptr = np.zeros(len(order) + 1, np.int64)
    new_columns, new_values = np.empty_like(columns), np.empty_like(values)
    q = 0
    for at, row in enumerate(order):
        for p in range(row_ptr[row], row_ptr[row + 1]):
            new_columns[q] = columns[p]
            new_values[q] = values[p]
            q += 1
        new_ptr[at + 1] = q
    return new_ptr, new_columns, new_values
