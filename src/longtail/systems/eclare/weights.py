"""The arrays of a trained ECLARE, by name: what a model folder keeps of one member of an ensemble."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from longtail.errors import ModelIntegrityError
from longtail.storage import read_arrays
from longtail.systems.common.fusion import columns_of

EVIDENCE = ("ranker", "neighbours", "cluster", "text", "linear", "linear probability")
"""What is known of a candidate: the ranker's score, the same after GAME, its cluster's, the match of the texts,
and the score of a linear label tree, as a logarithm and as it is."""

WHOLE_NUMBERS = frozenset(
    {
        "member_ptr",
        "members",
        "graph_indptr",
        "graph_indices",
        "cluster_graph_indptr",
        "cluster_graph_indices",
        "group",
    }
)
"""Arrays of whole numbers; all others are float32."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Folded weights.

    Shapes (V tokens, D width, L labels, K clusters, 0 where every label is ranked):
        tokens [V, D], residual [D, D]: documents for the ranker
        classifiers [L, D], bias [1]: what is added to all their scores
        cluster_tokens [V, D] (or [0, D]: the ranker's), cluster_residual [D, D]: documents for the shortlister
        cluster_classifiers [K, D], cluster_bias [1], member_ptr [K + 1], members [L]
        graph [L, L], cluster_graph [K, K]: sparse, three arrays each
        fusion_weights, fusion_start, group: of a Fusion (0 groups: the paper's product)
        blocks [parts, D, D]: of a classifier's texts; attention_transform [D, D] (or [0, D]: a sum),
        attention_weigh [parts, parts * D]: for classifiers of new labels
        parts [L, parts]: how much each part weighs in a classifier
    """

    tokens: np.ndarray
    residual: np.ndarray
    classifiers: np.ndarray
    bias: np.ndarray
    cluster_tokens: np.ndarray
    cluster_residual: np.ndarray
    cluster_classifiers: np.ndarray
    cluster_bias: np.ndarray
    member_ptr: np.ndarray
    members: np.ndarray
    graph_indptr: np.ndarray
    graph_indices: np.ndarray
    graph_data: np.ndarray
    cluster_graph_indptr: np.ndarray
    cluster_graph_indices: np.ndarray
    cluster_graph_data: np.ndarray
    fusion_weights: np.ndarray
    fusion_start: np.ndarray
    group: np.ndarray
    blocks: np.ndarray
    attention_transform: np.ndarray
    attention_weigh: np.ndarray
    parts: np.ndarray

    @property
    def graph(self) -> csr_array:
        """Labels x labels."""
        n = len(self.classifiers)
        return csr_array((self.graph_data, self.graph_indices, self.graph_indptr), shape=(n, n))

    @property
    def cluster_graph(self) -> csr_array:
        """Clusters x clusters."""
        n = len(self.cluster_classifiers)
        parts = (self.cluster_graph_data, self.cluster_graph_indices, self.cluster_graph_indptr)
        return csr_array(parts, shape=(n, n))

    def arrays(self) -> dict[str, np.ndarray]:
        """By name, for saving."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def load(cls, path: Path, *, n_tokens: int, n_labels: int) -> Weights:
        """Read saved weights and make sure that no kernel can be led astray by them."""
        arrays = {
            name: np.require(array, requirements=["C", "W"]) for name, array in read_arrays(path).items()
        }
        if set(arrays) != {field.name for field in fields(cls)}:
            raise ModelIntegrityError(f"{path} has not the arrays of an ECLARE model")
        weights = cls(**arrays)
        wrong = weights._first_fault(n_tokens, n_labels)
        if wrong is not None:
            raise ModelIntegrityError(f"{path} does not fit this model: {wrong}")
        return weights

    def _first_fault(self, n_tokens: int, n_labels: int) -> str | None:
        for name, array in self.arrays().items():
            if array.dtype.kind != "i" if name in WHOLE_NUMBERS else array.dtype != np.float32:
                return f"{name} has values of the type {array.dtype}"
        for name, shape in self._shapes(n_tokens, n_labels).items():
            if getattr(self, name).shape != shape:
                return f"{name} is {getattr(self, name).shape}, not {shape}"
        for name in ("graph", "cluster_graph"):
            if not _is_graph(*(getattr(self, f"{name}_{part}") for part in ("indptr", "indices", "data"))):
                return f"{name} is not a sparse matrix"
        once = np.array_equal(np.sort(self.members), np.arange(len(self.members)))
        if not _rises(self.member_ptr, len(self.members)) or not once:
            return "not every label is in one of its clusters"
        if len(self.fusion_start) and not _within(self.group, len(self.fusion_start)):
            return "its groups of labels do not fit together"
        if not all(np.isfinite(array).all() for array in self.arrays().values()):
            return "it has values that are not finite"
        return None

    def _shapes(self, n_tokens: int, n_labels: int) -> Mapping[str, tuple[int, ...]]:
        """What the arrays must be; those that a switch leaves out have no rows."""
        width, parts = self.tokens.shape[-1], self.parts.shape[-1]
        K, groups, attends = (
            len(self.cluster_classifiers),
            len(self.fusion_start),
            len(self.attention_weigh) > 0,
        )
        has_refinement = len(self.blocks) < parts
        return {
            "tokens": (n_tokens, width),
            "residual": (width, width),
            "classifiers": (n_labels, width),
            "bias": (1,),
            "cluster_bias": (1,),
            "cluster_tokens": (len(self.cluster_tokens) and n_tokens, width),
            "cluster_residual": (width, width),
            "cluster_classifiers": (K, width),
            "member_ptr": (K + 1,),
            "members": (n_labels if K else 0,),
            "graph_indptr": (n_labels + 1,),
            "cluster_graph_indptr": (K + 1,),
            "fusion_weights": (groups, columns_of(self.fusion_weights, len(EVIDENCE))),
            "fusion_start": (groups,),
            "group": (n_labels,),
            "blocks": (parts - has_refinement, width, width),
            "attention_transform": (width if attends else 0, width),
            "attention_weigh": (parts, parts * width) if attends else (0, width),
            "parts": (n_labels, parts),
        }


def _is_graph(indptr: np.ndarray, indices: np.ndarray, data: np.ndarray) -> bool:
    return len(indices) == len(data) and _rises(indptr, len(indices)) and _within(indices, len(indptr) - 1)


def _rises(pointers: np.ndarray, end: int) -> bool:
    return bool(pointers[0] == 0 and pointers[-1] == end and (np.diff(pointers) >= 0).all())


def _within(numbers: np.ndarray, below: int) -> bool:
    return not len(numbers) or bool(numbers.min() >= 0 and numbers.max() < below)
