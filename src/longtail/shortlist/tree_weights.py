"""The trained classifiers of a label tree, laid out for search: level by level, and within a level by feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numba import njit
from scipy.sparse import hstack

from longtail.cluster.label_tree import LabelTree
from longtail.errors import ModelIntegrityError
from longtail.solvers.classifiers import SparseWeights
from longtail.storage import read_arrays


@dataclass(frozen=True, slots=True, eq=False)
class TreeWeights:
    """Nodes are numbered level by level from the root, 0; the labels follow behind the last node.

    The children of node p are ``child_ptr[p]`` to ``child_ptr[p + 1]``; child number c is the label
    ``label_order[c - n_nodes]`` if c >= n_nodes, and has the bias ``bias[c - 1]`` (the root is nobody's child).

    The weights come in rows, one a pair of a feature and a node that weighs it, sorted by level, feature and
    node: level t has the rows ``level_ptr[t]`` to ``level_ptr[t + 1]``. Row r is about ``row_feature[r]`` at
    ``row_node[r]``; its weights are at ``row_ptr[r]`` to ``row_ptr[r + 1]`` in ``columns`` (which of the node's
    children) and ``values``.
    """

    child_ptr: np.ndarray
    label_order: np.ndarray
    level_ptr: np.ndarray
    row_feature: np.ndarray
    row_node: np.ndarray
    row_ptr: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    bias: np.ndarray

    @classmethod
    def join(cls, tree: LabelTree, nodes: Sequence[Sequence[SparseWeights]]) -> TreeWeights:
        """Lay out what was trained: for each node in order, its children's classifiers, in a few parts."""
        counts = [len(level) - 1 for level in tree.children]
        starts = np.cumsum(counts)
        child_ptr = [level[:-1] + start for level, start in zip(tree.children, starts, strict=True)]
        features, sizes, columns, values = [], [], [], []
        for parts in nodes:
            # All parts of a node were trained on the same documents, so their features are the same.
            weights = (
                parts[0].weights if len(parts) == 1 else hstack([p.weights for p in parts], format="csr")
            )
            size = np.diff(weights.indptr)
            features.append(parts[0].features[size > 0])
            sizes.append(size[size > 0])
            columns.append(weights.indices.astype(np.uint16))
            values.append(weights.data)
        row_node = np.repeat(np.arange(len(nodes)), [len(rows) for rows in features]).astype(np.int32)
        row_feature = np.concatenate(features).astype(np.int32)
        row_level = np.repeat(np.arange(len(counts)), counts)[row_node]
        order = np.lexsort((row_node, row_feature, row_level))
        row_ptr = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
        new_ptr, new_columns, new_values = _reorder(
            row_ptr, np.concatenate(columns), np.concatenate(values), order
        )
        return cls(
            child_ptr=np.concatenate([*child_ptr, [starts[-1] + len(tree.label_order)]]).astype(np.int64),
            label_order=tree.label_order.astype(np.int32),
            level_ptr=np.searchsorted(row_level[order], np.arange(len(counts) + 1)).astype(np.int64),
            row_feature=row_feature[order],
            row_node=row_node[order],
            row_ptr=new_ptr,
            columns=new_columns,
            values=new_values,
            bias=np.concatenate([part.bias for parts in nodes for part in parts]).astype(np.float32),
        )

    def arrays(self) -> dict[str, np.ndarray]:
        """The parts by name, for saving."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def load(cls, path: Path, *, n_features: int, n_labels: int) -> TreeWeights:
        """Read saved weights and make sure that no kernel can be led astray by them."""
        # Kernels are compiled for writable arrays; a read-only one would make them compile anew.
        arrays = {
            name: np.require(array, requirements=["C", "W"]) for name, array in read_arrays(path).items()
        }
        weights = cls(**arrays)
        wrong = weights._first_fault(n_features, n_labels)
        if wrong is not None:
            raise ModelIntegrityError(f"{path} is not a label tree of this model: {wrong}")
        return weights

    def _first_fault(self, n_features: int, n_labels: int) -> str | None:
        for name, kind in _KINDS.items():
            array = getattr(self, name)
            if array.ndim != 1 or array.dtype != kind:
                return f"{name} is not a vector of {np.dtype(kind).name}"
        n_nodes, n_rows = len(self.child_ptr) - 1, len(self.row_node)
        end = n_nodes + len(self.label_order)
        if n_nodes < 1 or not _rises(self.child_ptr, 1, end) or len(self.bias) != end - 1:
            return "its nodes and their children do not fit together"
        if not _within(self.label_order, n_labels):
            return "it has labels that the model does not have"
        if (
            len(self.row_feature) != n_rows
            or len(self.level_ptr) < 2
            or not _rises(self.level_ptr, 0, n_rows)
        ):
            return "its levels and their rows do not fit together"
        if not _within(self.row_feature, n_features) or not _within(self.row_node, n_nodes):
            return "it weighs features that the model does not have"
        sizes_fit = len(self.row_ptr) == n_rows + 1 and len(self.columns) == len(self.values)
        if not sizes_fit or not _rises(self.row_ptr, 0, len(self.values)):
            return "its rows and their weights do not fit together"
        children = np.repeat(np.diff(self.child_ptr)[self.row_node], np.diff(self.row_ptr))
        if (self.columns >= children).any():
            return "it weighs children that a node does not have"
        if not (np.isfinite(self.values).all() and np.isfinite(self.bias).all()):
            return "it has weights that are not finite"
        return None


@njit(nogil=True, cache=True)
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


_KINDS = {
    "child_ptr": np.int64,
    "label_order": np.int32,
    "level_ptr": np.int64,
    "row_feature": np.int32,
    "row_node": np.int32,
    "row_ptr": np.int64,
    "columns": np.uint16,
    "values": np.float32,
    "bias": np.float32,
}


def _rises(pointers: np.ndarray, first: int, last: int) -> bool:
    return bool(pointers[0] == first and pointers[-1] == last and (np.diff(pointers) >= 0).all())


def _within(numbers: np.ndarray, end: int) -> bool:
    return not len(numbers) or bool(numbers.min() >= 0 and numbers.max() < end)
