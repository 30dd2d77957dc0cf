"""Indexes of training documents: the nearest rows by cosine, rows that are added, rows that are dropped.

An index is never changed: ``added`` and ``kept`` give a new one. A row of zeros is never found.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, vstack

from longtail.errors import ModelIntegrityError
from longtail.kernels import kernel
from longtail.run import Run
from longtail.shortlist.ann import AnnIndex
from longtail.shortlist.candidates import over_blocks
from longtail.shortlist.lexical import LexicalIndex
from longtail.shortlist.scoring import dot
from longtail.shortlist.selection import best_first, offer
from longtail.storage import VerifiedFolder
from longtail.storage.schema import ArraySet, array

ROWS_FILE, POSITIONS_FILE = "rows.safetensors", "positions.safetensors"
EXACT_BELOW = 200_000
"""With fewer sparse rows than this all are compared, unless the settings say otherwise."""
MOST_REMOVED = 1000
"""With more removed rows than this the graph is built anew: a search has to look that much further."""

Found = tuple[np.ndarray, np.ndarray]
"""Row numbers int32 [n, k], -1 for none, and cosines float32 [n, k], the best first."""


class Neighbours(ABC):
    """Rows that are searched by cosine; ``len`` is their number."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def search(self, queries: Any, k: int) -> Found:
        """The k nearest rows of each query."""

    @abstractmethod
    def added(self, rows: Any) -> Neighbours:
        """The same with more rows, which are numbered from the last one on."""

    @abstractmethod
    def kept(self, rows: np.ndarray) -> Neighbours:
        """The rows of these numbers (rising), numbered anew."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the rows below the folder of the model."""


@dataclass(frozen=True, slots=True, eq=False)
class TermRows(ArraySet):
    """Sparse rows in half precision."""

    indptr: np.ndarray = array("int64", "rows + 1", pointer_into="entries", stored="deltas")
    indices: np.ndarray = array("int32", "entries", index_below="terms", stored="deltas")
    data: np.ndarray = array("float32", "entries", stored="float16")


@dataclass(frozen=True, slots=True, eq=False)
class VectorRows(ArraySet):
    """Dense rows of length one (or of zeros) in half precision."""

    vectors: np.ndarray = array("float32", "rows", "width", stored="float16")


@dataclass(frozen=True, slots=True, eq=False)
class Positions(ArraySet):
    """The document of each row of an index; -1 where it was removed."""

    document: np.ndarray = array("int32", "rows", index_below="documents", low=-1, stored="deltas")


class TermNeighbours(Neighbours):
    """Sparse rows, compared by inverted lists, which are made when they are first searched.

    Args:
        exact_below: with fewer rows than this, lists are read to their ends.
    """

    def __init__(self, rows: TermRows, n_terms: int, exact_below: int = EXACT_BELOW) -> None:
        self.rows, self.n_terms, self.exact_below = rows, n_terms, exact_below

    @classmethod
    def of(cls, X: csr_array, exact_below: int = EXACT_BELOW) -> Self:
        """Rows of length one, columns in order."""
        rows = TermRows(
            X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data.astype(np.float32, copy=False)
        )
        return cls(rows, X.shape[1], exact_below)

    @classmethod
    def load(cls, folder: VerifiedFolder, n: int, n_terms: int, exact_below: int = EXACT_BELOW) -> Self:
        """What was saved."""
        return cls(TermRows.load(folder.path(ROWS_FILE), rows=n, terms=n_terms), n_terms, exact_below)

    def __len__(self) -> int:
        return len(self.rows.indptr) - 1

    @property
    def matrix(self) -> csr_array:
        """The rows [n, terms]."""
        rows = self.rows
        return csr_array((rows.data, rows.indices, rows.indptr), shape=(len(self), self.n_terms))

    @cached_property
    def _index(self) -> LexicalIndex:
        return LexicalIndex(self.matrix, exact=len(self) < self.exact_below)

    def search(self, queries: csr_array, k: int) -> Found:
        """The k nearest rows of each query that share a term with it."""
        found = self._index.top(queries, k).top_k(k)
        return found.indices, np.minimum(found.scores, np.float32(1))

    def added(self, rows: csr_array) -> Neighbours:
        """The same with more rows."""
        return TermNeighbours.of(csr_array(vstack([self.matrix, rows], format="csr")), self.exact_below)

    def kept(self, rows: np.ndarray) -> Neighbours:
        """The rows of these numbers."""
        return TermNeighbours.of(self.matrix[rows], self.exact_below)

    def save(self, folder: Path) -> None:
        """One file."""
        self.rows.save(folder / ROWS_FILE)


class VectorNeighbours(Neighbours):
    """Dense rows, all compared."""

    def __init__(self, rows: VectorRows) -> None:
        self.vectors = rows.vectors

    @classmethod
    def of(cls, vectors: np.ndarray) -> Self:
        """Vectors of any length."""
        return cls(VectorRows(unit(vectors)))

    @classmethod
    def load(cls, folder: VerifiedFolder, n: int, width: int) -> Self:
        """What was saved."""
        return cls(VectorRows.load(folder.path(ROWS_FILE), rows=n, width=width))

    def __len__(self) -> int:
        return len(self.vectors)

    def search(self, queries: np.ndarray, k: int) -> Found:
        """The k nearest rows of each query."""
        queries = unit(queries)
        ids = np.full((len(queries), k), -1, np.int32)
        cosines = np.zeros((len(queries), k), np.float32)
        over_blocks(len(queries), lambda a, b: _nearest(queries[a:b], self.vectors, ids[a:b], cosines[a:b]))
        return ids, cosines

    def added(self, rows: np.ndarray) -> Neighbours:
        """The same with more rows."""
        return VectorNeighbours(VectorRows(np.concatenate([self.vectors, unit(rows)])))

    def kept(self, rows: np.ndarray) -> Neighbours:
        """The rows of these numbers."""
        return VectorNeighbours(VectorRows(self.vectors[rows]))

    def save(self, folder: Path) -> None:
        """One file."""
        VectorRows(self.vectors).save(folder / ROWS_FILE)


class AnnNeighbours(Neighbours):
    """Dense rows in a graph; rows that are removed stay in it and are passed over.

    Args:
        document: int32, the number of each row of the index; -1: it was removed.
    """

    def __init__(self, index: AnnIndex, document: np.ndarray, ef_search: int) -> None:
        self.index, self.document, self.ef_search = index, document, ef_search
        self.removed = int((document < 0).sum())

    @classmethod
    def of(cls, vectors: np.ndarray, ef_search: int, run: Run | None = None) -> Self:
        """Vectors of any length."""
        index = AnnIndex.build(vectors, stored="float16", run=run)
        return cls(index, np.arange(len(vectors), dtype=np.int32), ef_search)

    @classmethod
    def load(cls, folder: VerifiedFolder, n: int, width: int, ef_search: int) -> Self:
        """What was saved."""
        path = folder.path(POSITIONS_FILE)
        document = Positions.load(path, documents=n).document
        if not np.array_equal(document[document >= 0], np.arange(n)):
            raise ModelIntegrityError(f"{path}: every document must be there once, in order")
        index = AnnIndex.load(folder.path(ROWS_FILE), n=len(document), width=width)
        return cls(index, document, ef_search)

    def __len__(self) -> int:
        return len(self.document) - self.removed

    def search(self, queries: np.ndarray, k: int) -> Found:
        """The k nearest rows of each query that the graph finds."""
        # So many more that rows which were removed leave enough.
        rows, cosines = self.index.search(queries, k + self.removed, ef_search=self.ef_search)
        if not self.removed:
            return rows, cosines
        found = np.where(rows < 0, -1, self.document[rows])
        order = np.argsort(found < 0, axis=1, kind="stable")[:, :k]
        found = np.take_along_axis(found, order, axis=1)
        return found, np.where(found < 0, np.float32(0), np.take_along_axis(cosines, order, axis=1))

    def added(self, rows: np.ndarray) -> Neighbours:
        """The same with more rows."""
        new = np.arange(len(self), len(self) + len(rows), dtype=np.int32)
        return AnnNeighbours(self.index.add(rows), np.concatenate([self.document, new]), self.ef_search)

    def kept(self, rows: np.ndarray) -> Neighbours:
        """The rows of these numbers; the graph is built anew where too many are gone."""
        there = np.flatnonzero(self.document >= 0)[rows]
        if len(self.document) - len(there) > MOST_REMOVED:
            node = self.index.node[there]
            vectors = np.where(node[:, None] < 0, np.float32(0), self.index.vectors[node])
            return AnnNeighbours.of(vectors, self.ef_search)
        document = np.full(len(self.document), -1, np.int32)
        document[there] = np.arange(len(there))
        return AnnNeighbours(self.index, document, self.ef_search)

    def save(self, folder: Path) -> None:
        """The graph, and which rows are left."""
        self.index.save(folder / ROWS_FILE)
        Positions(self.document).save(folder / POSITIONS_FILE)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Rows of length one, or of zeros: float32 [n, D]."""
    vectors = np.ascontiguousarray(vectors, np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    out = np.zeros_like(vectors)
    np.divide(vectors, lengths, out=out, where=lengths > 0)
    return out


def labelled(rows: Any, Y: csr_array) -> Any:
    """The rows with zeros where a document has no label: it says nothing and is never a neighbour."""
    some = np.diff(Y.indptr) > 0
    if some.all():
        return rows
    if isinstance(rows, np.ndarray):
        return rows * some[:, None]
    data = rows.data * np.repeat(some, np.diff(rows.indptr))
    # A copy: zeros are eliminated in place, and other systems use the same rows.
    kept = csr_array((data, rows.indices, rows.indptr), shape=rows.shape, copy=True)
    kept.eliminate_zeros()
    return kept


@kernel
def _nearest(queries: np.ndarray, vectors: np.ndarray, ids: np.ndarray, cosines: np.ndarray) -> None:
    for i in range(len(queries)):
        count = 0
        for row in range(len(vectors)):
            cosine = min(dot(queries[i], vectors[row]), np.float32(1))
            if cosine > 0 and (count < ids.shape[1] or cosine > cosines[i, 0]):
                count = offer(ids[i], cosines[i], count, row, cosine)
        best_first(ids[i], cosines[i], count)
