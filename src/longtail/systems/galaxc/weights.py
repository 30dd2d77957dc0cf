"""The arrays of a trained GalaXC, by name: what a model folder keeps beside its indices and texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from longtail.errors import ModelIntegrityError
from longtail.graph.joint import JointGraph
from longtail.storage import checks, read_arrays
from longtail.systems.common.fusion import columns_of

EVIDENCE = ("ranker", "shortlist", "votes", "text", "linear", "linear probability", "initial", "company")
"""What is known of a candidate: the ranker's score, the shortlist's cosine, the logarithm of the votes of near
documents, the match of the texts, the score of a linear label tree as a logarithm and as it is, the cosine of
initial embeddings, and the logarithm of how often it goes together with labels that are revealed."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Folded weights.

    Shapes (D width, K resolutions, L labels, N nodes, n documents):
        transform [K, D, D], shift [K, D]: of documents; eps [hops]: of convolutions
        classifiers [L, D], attention [L, K], bias [1]
        node_of_document [n], node_of_label [L], graph_indptr [N + 1], graph_indices, graph_own [edges]
        known_indptr [N + 1], known_indices: the labels of documents, by node
        fusion_weights, fusion_start, group: of a Fusion (0 groups: another score); warm_weights,
        warm_start likewise: for new documents of which labels are revealed; known_weights, known_start: for those
        that are in the graph already
    """

    transform: np.ndarray
    shift: np.ndarray
    eps: np.ndarray
    classifiers: np.ndarray
    attention: np.ndarray
    bias: np.ndarray
    node_of_document: np.ndarray
    node_of_label: np.ndarray
    graph_indptr: np.ndarray
    graph_indices: np.ndarray
    graph_own: np.ndarray
    known_indptr: np.ndarray
    known_indices: np.ndarray
    fusion_weights: np.ndarray
    fusion_start: np.ndarray
    warm_weights: np.ndarray
    warm_start: np.ndarray
    known_weights: np.ndarray
    known_start: np.ndarray
    group: np.ndarray

    @property
    def graph(self) -> JointGraph:
        """Nodes and neighbours."""
        return JointGraph(
            self.node_of_document,
            self.node_of_label,
            self.graph_indptr,
            self.graph_indices,
            self.graph_own.astype(np.bool_),
        )

    @property
    def labels_of(self) -> csr_array:
        """Nodes x labels."""
        ones = np.ones(len(self.known_indices), np.float32)
        shape = (len(self.known_indptr) - 1, len(self.classifiers))
        return csr_array((ones, self.known_indices, self.known_indptr), shape=shape)

    def arrays(self) -> dict[str, np.ndarray]:
        """By name, for saving."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def load(cls, path: Path, *, n_labels: int, n_documents: int, hops: int, resolutions: int) -> Weights:
        """Read saved weights and make sure that no kernel can be led astray by them."""
        arrays = {
            name: np.require(array, requirements=["C", "W"]) for name, array in read_arrays(path).items()
        }
        if set(arrays) != {field.name for field in fields(cls)}:
            raise ModelIntegrityError(f"{path} has not the arrays of a GalaXC model")
        weights = cls(**arrays)
        with checks.of_file(path):
            weights._check(n_labels, n_documents, hops, resolutions)
        return weights

    def _check(self, n_labels: int, n_documents: int, hops: int, resolutions: int) -> None:
        flat = next((name for name, array in self.arrays().items() if array.ndim == 0), None)
        if flat is not None:
            raise ModelIntegrityError(f"{flat} must be an array, not a single number")
        for name, shape in self._shapes(n_labels, n_documents, hops, resolutions).items():
            array = getattr(self, name)
            if array.shape != shape or array.dtype != np.float32:
                raise ModelIntegrityError(f"{name} is {array.dtype} {array.shape}, not float32 {shape}")
            checks.finite(array, name)
        n_nodes = len(self.graph_indptr) - 1
        checks.vector(self.node_of_document, np.int32, "node_of_document", size=n_documents)
        checks.vector(self.node_of_label, np.int32, "node_of_label", size=n_labels)
        checks.vector(self.group, np.int8, "group", size=n_labels)
        checks.vector(self.graph_indices, np.int32, "graph_indices")
        checks.vector(self.known_indices, np.int32, "known_indices")
        checks.vector(self.graph_own, np.uint8, "graph_own", size=len(self.graph_indices))
        checks.vector(self.graph_indptr, np.int64, "graph_indptr")
        checks.vector(self.known_indptr, np.int64, "known_indptr")
        checks.pointers(self.graph_indptr, len(self.graph_indices), "graph_indptr")
        checks.pointers(self.known_indptr, len(self.known_indices), "known_indptr", rows=n_nodes)
        for name in ("node_of_document", "node_of_label", "graph_indices"):
            checks.within(getattr(self, name), 0, n_nodes, name)
        checks.within(self.known_indices, 0, n_labels, "known_indices")
        checks.within(self.group, 0, max(len(self.fusion_start), 127), "group")
        if len(self.fusion_start):
            checks.within(self.group, 0, len(self.fusion_start), "group")

    def _shapes(
        self, n_labels: int, n_documents: int, hops: int, resolutions: int
    ) -> Mapping[str, tuple[int, ...]]:
        width, groups = self.classifiers.shape[-1], len(self.fusion_start)
        warm = len(self.warm_start) and groups
        known = len(self.known_start) and groups
        return {
            "transform": (resolutions, width, width),
            "shift": (resolutions, width),
            "eps": (hops,),
            "classifiers": (n_labels, width),
            "attention": (n_labels, resolutions),
            "bias": (1,),
            "fusion_weights": (groups, columns_of(self.fusion_weights, len(EVIDENCE))),
            "fusion_start": (groups,),
            "warm_weights": (warm, columns_of(self.warm_weights, len(EVIDENCE))),
            "warm_start": (warm,),
            "known_weights": (known, columns_of(self.known_weights, len(EVIDENCE))),
            "known_start": (known,),
        }
