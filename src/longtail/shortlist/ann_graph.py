"""The graph (HNSW) of vectors of length 1 that faiss builds and searches, as one sequence of checked bytes.

Graph and vectors are together in memory or in a mapped file, and faiss reads them in place. It keeps to the calling
thread: longtail.threads divides the queries, and only so is a graph the same every time.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from longtail.errors import MissingPackageError, ModelIntegrityError
from longtail.run import Run
from longtail.storage import checks

M = 48
"""Links per node (HNSW's M; twice as many on the lowest level)."""
EF_CONSTRUCTION = 64
"""Candidates that are compared for the links of a new node (HNSW's efConstruction)."""
MANY = 500_000
"""Above so many rows both are smaller: half the time per vector (among 60,000 labels, 97 % of the nearest hundred
are found in place of 99 %)."""
SMALL_M, SMALL_EF_CONSTRUCTION = 24, 40

_SLICE = 4_096
"""Rows that go into the graph in one call; the graph depends on it, so it is fixed."""
_one_reader = threading.Lock()
"""The bound on what faiss reads is one for the whole process."""


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Vectors float32 [m, D] and links between near ones; never changed.

    Shapes: ``written`` uint8, what faiss wrote, after up to 3 zeros that align the vectors at its end.
    """

    written: np.ndarray
    vectors: np.ndarray
    _index: Any

    @classmethod
    def build(cls, vectors: np.ndarray, m: int, ef_construction: int, run: Run) -> Self:
        """The graph of different vectors; the same vectors, the same bytes."""
        faiss = _faiss()
        empty = faiss.IndexHNSWFlat(vectors.shape[1], m, faiss.METRIC_INNER_PRODUCT)
        return cls._extended(empty, vectors, ef_construction, run)

    def add(self, vectors: np.ndarray, ef_construction: int, run: Run) -> Self:
        """The graph with more vectors at the end."""
        if len(vectors) == 0:
            return self
        # A copy: an index that reads given bytes in place cannot be extended.
        copy = _faiss().deserialize_index(_without_zeros(self.written))
        return self._extended(copy, vectors, ef_construction, run)

    @classmethod
    def _extended(cls, index: Any, vectors: np.ndarray, ef_construction: int, run: Run) -> Self:
        index.hnsw.efConstruction = ef_construction
        with _one_thread(), run.phase("index", len(vectors)) as phase:
            for start in range(0, len(vectors), _SLICE):
                rows = np.ascontiguousarray(vectors[start : start + _SLICE])
                index.add(rows)
                phase.advance(len(rows))
        written: np.ndarray = _faiss().serialize_index(index)
        zeros = np.zeros(-len(written) % 4, np.uint8)
        return cls._opened(np.concatenate([zeros, written]), (index.ntotal, index.d))

    def near(self, unit: np.ndarray, k: int, ef_search: int) -> np.ndarray:
        """Up to k nodes int64 [n, min(k, m)] near each query, -1 for none."""
        k = min(k, len(self.vectors))
        with _one_thread():
            parameters = _faiss().SearchParametersHNSW(efSearch=max(ef_search, k))
            found: np.ndarray = self._index.search(unit, k, params=parameters)[1]
        return found

    def arrays(self, *, half: bool = False) -> dict[str, np.ndarray]:
        """What to write; with ``half`` the vectors (which must be representable so) are apart, as float16."""
        checked = digest(self.written, self.vectors.nbytes)
        if not half:
            return {"graph": self.written, "digest": checked}
        links = self.written[: len(self.written) - self.vectors.nbytes]
        return {"links": links, "vectors": self.vectors.astype(np.float16), "digest": checked}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, np.ndarray], shape: tuple[int, int]) -> Self:
        """The graph of m vectors of D dimensions that was written as these arrays."""
        if "links" in arrays:
            links = checks.vector(arrays["links"], np.uint8, "the links of the graph")
            vectors = half_vectors(arrays, shape).reshape(-1).view(np.uint8)
            written = np.concatenate([links, vectors])
        else:
            written = checks.vector(checks.named(arrays, "graph", "the graph"), np.uint8, "the graph")
        size = 4 * shape[0] * shape[1]
        if len(written) < size or len(written) % 4:
            raise ModelIntegrityError(
                f"the graph has not the length of one of {shape[0]:,} vectors of {shape[1]} dimensions"
            )
        # Before faiss sees a byte: it follows the links of a graph wherever they lead.
        if not np.array_equal(
            checks.named(arrays, "digest", "the digest of the graph"), digest(written, size)
        ):
            raise ModelIntegrityError("the graph has been altered: its digest is another one")
        graph = cls._opened(written, shape)
        checks.finite(graph.vectors, "the vectors of the graph")
        return graph

    @classmethod
    def _opened(cls, written: np.ndarray, shape: tuple[int, int]) -> Self:
        faiss, plain = _faiss(), _without_zeros(written)
        try:
            with _bounded(len(plain)):
                reader = faiss.ZeroCopyIOReader(faiss.swig_ptr(plain), len(plain))
                index = faiss.read_index(reader, faiss.IO_FLAG_MMAP_IFC)
        except (RuntimeError, MemoryError) as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[-1]
            raise ModelIntegrityError(f"faiss cannot read the graph: {reason}") from None
        fits = isinstance(index, faiss.IndexHNSWFlat) and (index.ntotal, index.d) == shape
        if not fits or index.metric_type != faiss.METRIC_INNER_PRODUCT:
            raise ModelIntegrityError(
                f"the graph is not one of {shape[0]:,} vectors of {shape[1]} dimensions"
            )
        start = len(written) - 4 * shape[0] * shape[1]
        return cls(written, written[start:].view(np.float32).reshape(shape), index)


def half_vectors(arrays: Mapping[str, np.ndarray], shape: tuple[int, int]) -> np.ndarray:
    """Vectors that were stored as float16, as float32 [m, D]."""
    vectors = checks.named(arrays, "vectors", "the vectors")
    if vectors.shape != shape or vectors.dtype != np.float16:
        raise ModelIntegrityError(f"the vectors are {vectors.dtype} {vectors.shape}, not float16 {shape}")
    return checks.finite(vectors.astype(np.float32), "the vectors")


def digest(written: np.ndarray, vector_bytes: int) -> np.ndarray:
    """Of everything but the vectors: a wrong number among those is never followed as a link."""
    links = written[: len(written) - vector_bytes]
    return np.frombuffer(hashlib.blake2b(links.data, digest_size=32).digest(), np.uint8)


def _without_zeros(written: np.ndarray) -> np.ndarray:
    """From the first byte of faiss on, which is a letter."""
    return written[int((written[:4] != 0).argmax()) if len(written) else 0 :]


def _faiss() -> Any:
    try:
        import faiss
    except ImportError:
        raise MissingPackageError("faiss-cpu", extra="ann", purpose="searching many vectors") from None
    return faiss


@contextmanager
def _one_thread() -> Iterator[None]:
    faiss = _faiss()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


@contextmanager
def _bounded(size: int) -> Iterator[None]:
    """Let faiss allocate no array larger than the file: a wrong length in it could take all memory."""
    faiss = _faiss()
    with _one_reader:
        before = faiss.get_deserialization_vector_byte_limit()
        faiss.set_deserialization_vector_byte_limit(size)
        try:
            yield
        finally:
            faiss.set_deserialization_vector_byte_limit(before)
