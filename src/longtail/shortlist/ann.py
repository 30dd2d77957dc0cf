"""Approximate nearest neighbours by cosine: a graph over many rows, all comparisons where there are few.

Rows that are the same vector are one node with several ids: hundreds of equal nodes would only link to each
other and disconnect the graph. A row of zeros has no direction: it is no node, is never found, and finds nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Self

import numpy as np

from longtail.errors import ModelIntegrityError, UsageError
from longtail.kernels import kernel
from longtail.run import Run
from longtail.shortlist.ann_graph import (
    EF_CONSTRUCTION,
    MANY,
    SMALL_EF_CONSTRUCTION,
    SMALL_M,
    Graph,
    M,
    half_vectors,
)
from longtail.shortlist.candidates import over_blocks
from longtail.shortlist.scoring import dot
from longtail.shortlist.selection import best_first, offer
from longtail.storage import checks, read_arrays, write_arrays

EXACT_ROWS = 2_000
"""Up to so many different vectors, all are compared: about as fast as a graph, exact, and without faiss."""
EF_SEARCH = 400
"""Candidates that a search keeps at a time (HNSW's efSearch), by default."""


@dataclass(frozen=True, slots=True, eq=False)
class AnnIndex:
    """Rows to be found by their direction; made by :meth:`build` or :meth:`load`, never changed.

    Attributes:
        m, ef_construction: how the graph is built.
        stored: the type of the vectors on disk. With float16 they are rounded to it when they are added, so that a
            saved index gives the same answers; a file of half the size, which is read into memory, not mapped.
        graph: None: all nodes are compared.

    Shapes: ``node`` int32 [n], the place of each row's vector, -1 for a row of zeros; ``vectors`` float32
    [nodes, D], the different vectors, of length 1, in the order in which they first came.
    """

    node: np.ndarray
    vectors: np.ndarray
    m: int
    ef_construction: int
    stored: Literal["float32", "float16"] = "float32"
    graph: Graph | None = None
    _members: tuple[np.ndarray, np.ndarray] = field(init=False)
    """Where each node's ids begin, and the ids."""

    def __post_init__(self) -> None:
        rows = np.argsort(self.node, kind="stable")[np.count_nonzero(self.node < 0) :].astype(np.int32)
        indptr = np.zeros(len(self.vectors) + 1, np.int64)
        np.cumsum(np.bincount(self.node[rows], minlength=len(self.vectors)), out=indptr[1:])
        object.__setattr__(self, "_members", (indptr, rows))

    def __len__(self) -> int:
        return len(self.node)

    @property
    def width(self) -> int:
        """D, the number of dimensions."""
        return int(self.vectors.shape[1])

    @property
    def exact(self) -> bool:
        """Whether every row is compared."""
        return self.graph is None

    @classmethod
    def build(
        cls,
        vectors: np.ndarray,
        *,
        m: int | None = None,
        ef_construction: int | None = None,
        stored: Literal["float32", "float16"] = "float32",
        run: Run | None = None,
    ) -> Self:
        """The index of the rows [n, D], whose ids are 0 to n - 1; same rows, same bytes with any threads.

        Args:
            m: links per node. More: better answers, slower search, a larger file; None: by the number of rows.
            ef_construction: more: better links, a slower build; None: by the number of rows.
            stored: the type of the vectors on disk.
            run: where progress goes.
        """
        vectors = np.asarray(vectors)
        if vectors.ndim != 2 or vectors.shape[1] == 0:
            raise UsageError(f"vectors must be a table [rows, dimensions], not of shape {vectors.shape}")
        many = len(vectors) > MANY
        if m is None:
            m = SMALL_M if many else M
        if ef_construction is None:
            ef_construction = SMALL_EF_CONSTRUCTION if many else EF_CONSTRUCTION
        if not 2 <= m <= 512 or ef_construction < 1:
            raise UsageError(
                f"m must be 2 to 512 and ef_construction at least 1, not {m} and {ef_construction}"
            )
        empty = np.empty((0, vectors.shape[1]), np.float32)
        return cls(np.empty(0, np.int32), empty, m, ef_construction, stored).add(vectors, run=run)

    def add(self, vectors: np.ndarray, *, run: Run | None = None) -> Self:
        """The index with more rows, whose ids go on from the last; this one stays as it is."""
        unit = _unit_rows(vectors, self.width, "vectors")
        if self.stored == "float16":
            # Minus zero, as small numbers are rounded to, becomes zero.
            unit = unit.astype(np.float16).astype(np.float32) + np.float32(0)
        node, fresh = _nodes(self.vectors, unit)
        node = np.concatenate([self.node, node])
        known = np.concatenate([self.vectors, fresh])
        settings = (self.m, self.ef_construction, self.stored)
        if len(known) <= EXACT_ROWS:
            return type(self)(node, known, *settings)
        if self.graph is None:
            graph = Graph.build(known, self.m, self.ef_construction, run or Run())
        else:
            graph = self.graph.add(fresh, self.ef_construction, run or Run())
        return type(self)(node, graph.vectors, *settings, graph)

    def search(
        self, queries: np.ndarray, k: int, *, ef_search: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest rows of each query: ids int32 [n, k] and cosines float32 [n, k], the best first.

        Of equal cosines the smaller id comes first. Where there are fewer rows than k, or the query is all
        zeros, ids are -1 and cosines 0. A query's answer is the same alone and among others.

        Args:
            ef_search: more: better answers, slower; at least k counts.
        """
        if k < 1:
            raise UsageError(f"k must be at least 1, not {k}")
        if ef_search is not None and ef_search < 1:
            raise UsageError(f"ef_search must be at least 1, not {ef_search}")
        unit = _unit_rows(queries, self.width, "queries")
        # The search has room for as many as it is asked for, whether they are there or not.
        most = max(len(self.vectors), 1)
        ids = np.full((len(unit), k), -1, np.int32)
        cosines = np.zeros((len(unit), k), np.float32)

        def fill(start: int, stop: int) -> None:
            near = self._near(unit[start:stop], min(k, most), min(ef_search or EF_SEARCH, most))
            _rank(unit[start:stop], self.vectors, near, *self._members, ids[start:stop], cosines[start:stop])

        over_blocks(len(unit), fill)
        return ids, cosines

    def _near(self, unit: np.ndarray, k: int, ef_search: int) -> np.ndarray:
        """Nodes [n, b] near each query, -1 for none; without a column where all are to be compared."""
        if self.graph is None:
            return np.empty((len(unit), 0), np.int64)
        return self.graph.near(unit, k, ef_search)

    def save(self, path: str | Path) -> None:
        """Write one safetensors file; the same index, the same bytes."""
        settings = np.array([self.m, self.ef_construction], np.int64)
        if self.graph is not None:
            parts = self.graph.arrays(half=self.stored == "float16")
        else:
            parts = {"vectors": self.vectors.astype(self.stored, copy=False)}
        write_arrays(path, {"node": self.node, "settings": settings, **parts})

    @classmethod
    def load(cls, path: str | Path, *, n: int, width: int) -> Self:
        """Read an index of n rows [n, width]; what is not whole or does not fit is an error."""
        arrays = read_arrays(path)
        with checks.of_file(path):
            node = checks.named(arrays, "node", "the nodes of the rows")
            checks.vector(node, np.int32, "the nodes of the rows", size=n)
            checks.within(node, -1, n, "the nodes of the rows")
            settings = checks.named(arrays, "settings", "the settings")
            m, ef_construction = (
                int(value) for value in checks.vector(settings, np.int64, "the settings", size=2)
            )
            if not (2 <= m <= 512 and ef_construction >= 1):
                raise ModelIntegrityError(f"the settings {m}, {ef_construction} cannot be those of an index")
            shape = (int(node.max(initial=-1)) + 1, width)
            if "graph" in arrays or "links" in arrays:
                graph = Graph.of_arrays(arrays, shape)
                stored: Literal["float32", "float16"] = "float16" if "links" in arrays else "float32"
                return cls(node, graph.vectors, m, ef_construction, stored, graph)
            vectors = checks.named(arrays, "vectors", "the vectors")
            if vectors.dtype == np.float16:
                return cls(node, half_vectors(arrays, shape), m, ef_construction, "float16")
            if vectors.shape != shape or vectors.dtype != np.float32:
                raise ModelIntegrityError(
                    f"the vectors are {vectors.dtype} {vectors.shape}, not float32 {shape}"
                )
            return cls(node, checks.finite(vectors, "the vectors"), m, ef_construction)


def _unit_rows(rows: np.ndarray, width: int, what: str) -> np.ndarray:
    """Rows of length 1, or of zeros."""
    rows = np.asarray(rows)
    if rows.ndim != 2 or rows.shape[1] != width or rows.dtype.kind not in "fiu":
        raise UsageError(f"{what} must be numbers [n, {width}], not {rows.dtype} of shape {rows.shape}")
    with np.errstate(over="ignore"):
        rows = np.ascontiguousarray(rows, np.float32)
    # The least and the largest are enough, as NaN spreads to both.
    if rows.size and not (np.isfinite(rows.min()) and np.isfinite(rows.max())):
        row = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        raise UsageError(f"{what} must be finite, but row {row} has a number that is not")
    return _unit(rows)


def _nodes(known: np.ndarray, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The node of each row, -1 for zeros, and the vectors of nodes that are not among the known ones."""
    some = unit.any(axis=1)
    table = np.concatenate([known, unit[some]])
    _, first, group = np.unique(_keys(table.view(np.uint32)), return_index=True, return_inverse=True)
    original = _confirmed(table, first[group])
    is_node = original == np.arange(len(table))
    node = np.full(len(unit), -1, np.int32)
    node[some] = (np.cumsum(is_node) - 1)[original[len(known) :]]
    return node, table[len(known) :][is_node[len(known) :]]


@kernel
def _keys(rows: np.ndarray) -> np.ndarray:
    """A number for each row of bits: the same for the same rows, and another for nearly all others."""
    out = np.empty(len(rows), np.uint64)
    for i in range(len(rows)):
        key = np.uint64(0)
        for d in range(rows.shape[1]):
            key = (key ^ np.uint64(rows[i, d])) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(29)
        out[i] = key
    return out


@kernel
def _confirmed(rows: np.ndarray, original: np.ndarray) -> np.ndarray:
    """The row that each row is a copy of; itself where only the keys are the same."""
    for i in range(len(rows)):
        for d in range(rows.shape[1]):
            if rows[i, d] != rows[original[i], d]:
                original[i] = i
                break
    return original


@kernel
def _unit(rows: np.ndarray) -> np.ndarray:
    out = np.zeros_like(rows)
    for i in range(len(rows)):
        largest = np.float32(0)
        for d in range(rows.shape[1]):
            largest = max(largest, abs(rows[i, d]))
        if largest > 0:
            # By the largest first, so that no square overflows or vanishes.
            total = 0.0
            for d in range(rows.shape[1]):
                total += (np.float64(rows[i, d]) / largest) ** 2
            scale = np.sqrt(total) * largest
            for d in range(rows.shape[1]):
                # Minus zero becomes zero: the same vector is the same bytes.
                out[i, d] = np.float32(rows[i, d] / scale) + np.float32(0)
    return out


@kernel
def _rank(
    queries: np.ndarray,
    vectors: np.ndarray,
    near: np.ndarray,
    indptr: np.ndarray,
    rows: np.ndarray,
    ids: np.ndarray,
    cosines: np.ndarray,
) -> None:
    """The best rows of the nodes near each query, or of all nodes where ``near`` has no column."""
    k, width = ids.shape[1], near.shape[1]
    for i in range(len(queries)):
        if not queries[i].any():
            continue
        count = 0
        for j in range(width or len(vectors)):
            node = near[i, j] if width > 0 else j
            if node < 0:
                continue
            cosine = min(max(dot(queries[i], vectors[node]), np.float32(-1)), np.float32(1))
            begin = indptr[node]
            for p in range(begin, min(indptr[node + 1], begin + k)):
                count = offer(ids[i], cosines[i], count, rows[p], cosine)
        best_first(ids[i], cosines[i], count)
