"""Edges that come with documents, by the id of the document: the nodes that a document has an edge to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from longtail.types import Edges


@dataclass(frozen=True, slots=True, eq=False)
class AuxiliaryEdges:
    """The nodes that each id has an edge to, those of greatest weight first; none twice, none to itself.

    Shapes:
        rows: the row of each id; indptr int64 [rows + 1], nodes int32 [edges]
    """

    rows: dict[str, int]
    indptr: np.ndarray
    nodes: np.ndarray

    @classmethod
    def of(cls, edges: Edges, node_of_id: dict[str, int]) -> Self:
        """Edges in both directions, as far as they lead to known nodes; those of equal weight by their nodes."""
        rows: dict[str, int] = {}
        for side in (edges.sources, edges.targets):
            for id_ in side:
                rows.setdefault(id_, len(rows))
        node = np.array([node_of_id.get(id_, -1) for id_ in rows], np.int64)
        one, two = (
            np.array([rows[id_] for id_ in side], np.int64) for side in (edges.sources, edges.targets)
        )
        start, end = np.concatenate([one, two]), np.concatenate([two, one])
        weights = np.concatenate([edges.weights, edges.weights])
        known = (node[end] >= 0) & (node[end] != node[start]) & (start != end)
        start, nodes, weights = start[known], node[end][known], weights[known]
        order = np.lexsort((-weights, nodes, start))
        start, nodes, weights = start[order], nodes[order], weights[order]
        first = np.append(True, (start[1:] != start[:-1]) | (nodes[1:] != nodes[:-1]))[: len(start)]
        start, nodes, weights = start[first], nodes[first], weights[first]
        order = np.lexsort((nodes, -weights, start))
        indptr = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(np.bincount(start, minlength=len(rows)), out=indptr[1:])
        return cls(rows, indptr, nodes[order].astype(np.int32))

    def table(self, ids: list[str], width: int) -> np.ndarray:
        """The first nodes of each id, int32 [n, width], -1 padded."""
        out = np.full((len(ids), width), -1, np.int32)
        rows = np.array([self.rows.get(id_, -1) for id_ in ids], np.int64)
        there = np.flatnonzero(rows >= 0)
        first, last = self.indptr[rows[there]], self.indptr[rows[there] + 1]
        for column in range(width):
            some = first + column < last
            out[there[some], column] = self.nodes[first[some] + column]
        return out
