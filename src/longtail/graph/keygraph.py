"""KeyGraphs: a document as a graph of its keywords, many documents packed into one (GNN-XML, Sec. 3.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from longtail.errors import UsageError

EMPTY = -1
"""The keyword of the empty vertex, which has the sentences without a keyword."""


@dataclass(frozen=True, slots=True)
class KeyGraphs:
    """Keyword graphs of many documents, packed; every document has at least one vertex.

    Attributes:
        documents: int64 [n + 1]: vertices of document i are ``documents[i]:documents[i + 1]``.
        keywords: int32 [V]: number of the vertex's keyword, -1 the empty vertex, which is its document's last.
        edges: float32 [V, V], symmetric, weights = shared sentences, no self loops.
        sentences: float32 [V, S] of ones: which sentences belong to which vertex.
    """

    documents: np.ndarray
    keywords: np.ndarray
    edges: csr_array
    sentences: csr_array

    def __len__(self) -> int:
        """How many documents there are."""
        return len(self.documents) - 1

    @property
    def document_of_each(self) -> np.ndarray:
        """The document of each vertex, int64 [V]."""
        return np.repeat(np.arange(len(self)), np.diff(self.documents))

    def vertices(self, rows: np.ndarray) -> np.ndarray:
        """The vertices of some documents, one document after the other: where features of ``take`` are, int64."""
        rows = np.asarray(rows, np.int64)
        return joined_ranges(self.documents[rows], self.documents[rows + 1])

    def take(self, rows: np.ndarray) -> KeyGraphs:
        """The graphs of some documents, in that order; a document may come more than once."""
        rows = np.asarray(rows, np.int64)
        documents = _starts(self.documents[rows + 1] - self.documents[rows])
        vertices = self.vertices(rows)
        sizes = np.diff(documents)
        edges = _moved(
            self.edges, vertices, np.repeat(documents[:-1] - self.documents[rows], sizes), len(vertices)
        )
        first, last = self._sentence_ranges()
        columns = _starts(last[rows] - first[rows])
        sentences = _moved(
            self.sentences, vertices, np.repeat(columns[:-1] - first[rows], sizes), int(columns[-1])
        )
        return KeyGraphs(documents, self.keywords[vertices], edges, sentences)

    def without_sentences(self) -> KeyGraphs:
        """The same graphs, once their features are made and nothing else needs the sentences."""
        shape = (len(self.keywords), 0)
        nothing = _csr(
            np.zeros(0, np.float32), np.zeros(0, np.int32), np.zeros(shape[0] + 1, np.int64), shape
        )
        return KeyGraphs(self.documents, self.keywords, self.edges, nothing)

    def _sentence_ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the sentences of each document begin and end: all of them have a vertex, so no gaps."""
        bounds = self.sentences.indptr[self.documents].astype(np.int64)
        last = np.zeros(len(self), np.int64)
        filled = np.flatnonzero(np.diff(bounds))
        if len(filled):
            last[filled] = np.maximum.reduceat(self.sentences.indices, bounds[filled]) + 1
        last = np.maximum.accumulate(last)
        return np.concatenate([[0], last[:-1]]) if len(last) else last, last


def build_key_graphs(
    documents: np.ndarray,
    keywords: np.ndarray,
    sentences: np.ndarray,
    keyword_of: np.ndarray,
    sentence_of: np.ndarray,
) -> KeyGraphs:
    """The graphs of documents whose keywords have been found.

    Args:
        documents: int64 [n + 1]: keywords of document i are ``documents[i]:documents[i + 1]``.
        keywords: int32 [K]: the number of each keyword; each one is in some sentence of its document.
        sentences: int64 [n + 1]: sentences of document i are ``sentences[i]:sentences[i + 1]``.
        keyword_of, sentence_of: [P]: which keyword (a place in ``keywords``) is in which sentence; a pair may
            come more than once.
    """
    if len(documents) != len(sentences) or int(documents[-1]) != len(keywords):
        raise UsageError(
            f"{len(documents) - 1} documents with {int(documents[-1])} keywords do not fit "
            f"{len(sentences) - 1} documents with sentences and {len(keywords)} keywords"
        )
    alone = np.ones(int(sentences[-1]), np.bool_)
    alone[sentence_of] = False
    lone = np.flatnonzero(alone)
    document_of_lone = np.searchsorted(sentences, lone, side="right") - 1
    sizes = np.diff(documents)
    has_empty = sizes == 0
    has_empty[document_of_lone] = True

    vertices = _starts(sizes + has_empty)
    place = np.arange(len(keywords)) + np.repeat(vertices[:-1] - documents[:-1], sizes)
    numbers = np.full(int(vertices[-1]), EMPTY, np.int32)
    numbers[place] = keywords
    rows = np.concatenate([place[keyword_of], vertices[document_of_lone + 1] - 1])
    belongs = _ones(rows, np.concatenate([sentence_of, lone]), (len(numbers), len(alone)))
    return KeyGraphs(vertices, numbers, _shared(belongs), belongs)


def join_key_graphs(parts: list[KeyGraphs]) -> KeyGraphs:
    """The graphs of all parts, one part after the other."""
    if len(parts) == 1:
        return parts[0]
    sizes = [np.diff(part.documents) for part in parts]
    return KeyGraphs(
        _starts(np.concatenate([np.zeros(0, np.int64), *sizes])),
        np.concatenate([np.zeros(0, np.int32), *(part.keywords for part in parts)]),
        _diagonal([part.edges for part in parts]),
        _diagonal([part.sentences for part in parts]),
    )


def joined_ranges(starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """The numbers of all ranges, one range after the other, int64."""
    ends = _starts(stops - starts)
    numbers: np.ndarray = np.arange(int(ends[-1])) + np.repeat(starts - ends[:-1], np.diff(ends))
    return numbers


def _starts(sizes: np.ndarray) -> np.ndarray:
    """Where each of some pieces begins, and the end, int64 [n + 1]."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def _ones(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> csr_array:
    """A matrix of ones, however often a cell is named; columns in order."""
    # One sort of whole cells is quicker than a detour over coordinates, and drops those named twice.
    cells = np.unique(rows.astype(np.int64) * max(shape[1], 1) + columns)
    counts = np.bincount(cells // max(shape[1], 1), minlength=shape[0])
    return _csr(
        np.ones(len(cells), np.float32), (cells % max(shape[1], 1)).astype(np.int32), _starts(counts), shape
    )


def _shared(belongs: csr_array) -> csr_array:
    """How many sentences two vertices share."""
    shared = csr_array(belongs @ belongs.T)
    shared.sort_indices()
    row_of = np.repeat(np.arange(shared.shape[0]), np.diff(shared.indptr))
    others = shared.indices != row_of
    counts = np.bincount(row_of[others], minlength=shared.shape[0])
    return _csr(shared.data[others], shared.indices[others], _starts(counts), shared.shape)


def _moved(matrix: csr_array, rows: np.ndarray, shift: np.ndarray, n_columns: int) -> csr_array:
    """Some rows of a matrix, the columns of each shifted."""
    starts, stops = matrix.indptr[rows].astype(np.int64), matrix.indptr[rows + 1].astype(np.int64)
    sizes = stops - starts
    places = joined_ranges(starts, stops)
    indices = (matrix.indices[places] + np.repeat(shift, sizes)).astype(np.int32)
    return _csr(matrix.data[places], indices, _starts(sizes), (len(rows), n_columns))


def _diagonal(blocks: list[csr_array]) -> csr_array:
    """The blocks along the diagonal of one matrix."""
    widths = _starts(np.array([block.shape[1] for block in blocks], np.int64))
    sizes = np.concatenate([np.zeros(0, np.int64), *(np.diff(block.indptr) for block in blocks)])
    indices = [
        (block.indices + left).astype(np.int32) for block, left in zip(blocks, widths[:-1], strict=True)
    ]
    data = np.concatenate([np.zeros(0, np.float32), *(block.data for block in blocks)])
    return _csr(
        data,
        np.concatenate([np.zeros(0, np.int32), *indices]),
        _starts(sizes),
        (len(sizes), int(widths[-1])),
    )


def _csr(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: tuple[int, int]) -> csr_array:
    # Offsets as narrow as the columns, or scipy would widen both.
    narrow = indptr.astype(np.int32) if indptr[-1] < 2**31 else indptr
    return csr_array((data, indices, narrow), shape=shape)
