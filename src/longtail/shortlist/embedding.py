"""Embeddings of documents from their sparse features, from exported weights."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail.errors import UsageError
from longtail.kernels import kernel
from longtail.shortlist.candidates import over_blocks


class Embedding:
    """Sums of token embeddings, then a residual block: ``x + residual relu(x)``, and a ReLU if asked for.

    Each document is summed in the order of its own features and nothing else: it has the same embedding, to
    the last bit, alone and among others.

    Args:
        tokens: float32 [V, D], a row a feature.
        residual: float32 [D, D] with every factor (spectral norm, weight of the block) already in it.
        relu: whether negative values become 0 in the end.
    """

    def __init__(self, tokens: np.ndarray, residual: np.ndarray | None = None, *, relu: bool = True) -> None:
        dimensions = tokens.shape[1]
        if residual is not None and residual.shape != (dimensions, dimensions):
            raise UsageError(f"the residual weights are {residual.shape}, not {(dimensions, dimensions)}")
        self.tokens = np.ascontiguousarray(tokens, np.float32)
        self.relu = relu
        # By the dimension that comes in: where that is 0, a whole row is left out.
        self.outgoing = np.ascontiguousarray(
            np.empty((0, dimensions), np.float32) if residual is None else residual.T, np.float32
        )

    def __call__(self, X: csr_array) -> np.ndarray:
        """The embeddings float32 [n, D] of rows [n, V]; a row without features has zeros."""
        indptr, indices, data = self.parts(X)
        out = np.empty((len(indptr) - 1, self.tokens.shape[1]), np.float32)

        def fill(a: int, b: int) -> None:
            embed_rows(indptr[a : b + 1], indices, data, self.tokens, self.outgoing, self.relu, out[a:b])

        over_blocks(len(out), fill)
        return out

    def parts(self, X: csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The arrays of rows [n, V] as kernels take them."""
        if X.shape[1] != len(self.tokens):
            raise UsageError(f"the rows have {X.shape[1]} columns, but {len(self.tokens)} have an embedding")
        indices, data = X.indices.astype(np.int32, copy=False), X.data.astype(np.float32, copy=False)
        return X.indptr.astype(np.int64), indices, data


@kernel
def embed_rows(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    tokens: np.ndarray,
    outgoing: np.ndarray,
    relu: bool,
    out: np.ndarray,
) -> None:
    """Write the embeddings of documents in a row."""
    dimensions = tokens.shape[1]
    total = np.empty(dimensions, np.float32)
    for i in range(len(indptr) - 1):
        total[:] = 0
        for p in range(indptr[i], indptr[i + 1]):
            token, weight = tokens[indices[p]], data[p]
            for d in range(dimensions):
                total[d] += weight * token[d]
        row = out[i]
        row[:] = total
        for source in range(len(outgoing)):
            value = total[source]
            if value > 0:
                weights = outgoing[source]
                for d in range(dimensions):
                    row[d] += value * weights[d]
        if relu:
            for d in range(dimensions):
                row[d] = max(row[d], np.float32(0))
