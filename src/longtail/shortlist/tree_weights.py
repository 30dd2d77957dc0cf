"""The trained classifiers of a label tree, laid out for search: node by node, and within a node by feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from scipy.sparse import hstack

from longtail.cluster.label_tree import LabelTree
from longtail.solvers.classifiers import SparseWeights


@dataclass(frozen=True, slots=True, eq=False)
class TreeWeights:
    """Nodes are numbered level by level from the root, 0; the labels follow behind the last node.

    The children of node p are ``child_ptr[p]`` to ``child_ptr[p + 1]``; child number c is the label
    ``label_order[c - n_nodes]`` if c >= n_nodes, and has the bias ``bias[c - 1]`` (the root is nobody's child).
    Node p weighs ``features[r]`` for r from ``feature_ptr[p]`` to ``feature_ptr[p + 1]``; that feature's weights
    are at ``row_ptr[r]`` to ``row_ptr[r + 1]`` in ``columns`` (which of the node's children) and ``values``.
    """

    child_ptr: np.ndarray
    label_order: np.ndarray
    feature_ptr: np.ndarray
    features: np.ndarray
    row_ptr: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    bias: np.ndarray

    @classmethod
    def join(cls, tree: LabelTree, nodes: Sequence[Sequence[SparseWeights]]) -> TreeWeights:
        """Lay out what was trained: for each node in order, its children's classifiers, in a few parts."""
        starts = np.cumsum([1, *(len(level) - 1 for level in tree.children[1:])])
        child_ptr = [level[:-1] + start for level, start in zip(tree.children, starts, strict=True)]
        features, row_sizes, columns, values = [], [], [], []
        for parts in nodes:
            # All parts of a node were trained on the same documents, so their features are the same.
            weights = (
                parts[0].weights if len(parts) == 1 else hstack([p.weights for p in parts], format="csr")
            )
            sizes = np.diff(weights.indptr)
            features.append(parts[0].features[sizes > 0])
            row_sizes.append(sizes[sizes > 0])
            columns.append(weights.indices.astype(np.uint16))
            values.append(weights.data)
        return cls(
            child_ptr=np.concatenate([*child_ptr, [starts[-1] + len(tree.label_order)]]).astype(np.int64),
            label_order=tree.label_order.astype(np.int32),
            feature_ptr=np.cumsum([0, *map(len, features)], dtype=np.int64),
            features=np.concatenate(features).astype(np.int32),
            row_ptr=np.concatenate([[0], np.cumsum(np.concatenate(row_sizes))]).astype(np.int64),
            columns=np.concatenate(columns),
            values=np.concatenate(values).astype(np.float32),
            bias=np.concatenate([part.bias for parts in nodes for part in parts]).astype(np.float32),
        )

    def arrays(self) -> dict[str, np.ndarray]:
        """The parts by name, for saving."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
