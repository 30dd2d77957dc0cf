"""Labels that join a finished graph, without a change to the labels that are there."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail.errors import UsageError
from longtail.graph.pruning import strongest
from longtail.graph.rows import sorted_rows

OWN_SHARE = 0.5


def extend(G: csr_array, rows: csr_array, keep: int = 10) -> csr_array:
    """G with new nodes behind the old ones, each with a self-loop and edges to old nodes.

    The old rows keep their bits and have no edges to new nodes, so that nothing that was computed with them
    changes. A new row has its ``keep - 1`` strongest positive edges and sums to 1: its self-loop has one half,
    the edges share the other in proportion to their values, as a label should stay itself as much as it becomes
    its neighbours. Without edges the self-loop has all: a unit vector.

    Shapes:
        G [L, L], rows [n, L] -> [L + n, L + n]
    """
    if G.shape[0] != G.shape[1] or rows.shape[1] != G.shape[1]:
        raise UsageError(f"new rows {rows.shape} do not fit a graph {G.shape}: they need a column a node")
    if keep < 1:
        raise UsageError(f"keep must be at least 1 edge a label, not {keep}")
    n_old, n_new = G.shape[0], rows.shape[0]
    edges = _positive(rows)
    if keep == 1:
        edges = csr_array((n_new, n_old), dtype=np.float32)
    else:
        # Moved behind the old columns' numbers, so that none of the entries is taken for a self-loop.
        shifted = csr_array((edges.data, edges.indices + n_new, edges.indptr), shape=(n_new, n_new + n_old))
        edges = strongest(shifted, keep - 1)
        edges = csr_array((edges.data, edges.indices - n_new, edges.indptr), shape=(n_new, n_old))
    sizes = np.diff(edges.indptr)
    row_of = np.repeat(np.arange(n_new), sizes)
    sums = np.bincount(row_of, weights=edges.data, minlength=n_new)
    # A new row ends with its self-loop: new numbers are above all old ones.
    indptr = np.concatenate([[0], np.cumsum(sizes + 1)])
    data = np.empty(indptr[-1], np.float32)
    indices = np.empty(indptr[-1], np.int64)
    place = np.arange(len(row_of)) + row_of
    data[place], indices[place] = (1 - OWN_SHARE) * edges.data / sums[row_of], edges.indices
    data[indptr[1:] - 1] = np.where(sizes > 0, OWN_SHARE, 1)
    indices[indptr[1:] - 1] = n_old + np.arange(n_new)
    return csr_array(
        (
            np.concatenate([G.data, data.astype(G.dtype)]),
            np.concatenate([G.indices, indices]),
            np.concatenate([G.indptr, G.indptr[-1] + indptr[1:]]),
        ),
        shape=(n_old + n_new, n_old + n_new),
    )


def _positive(rows: csr_array) -> csr_array:
    entries = sorted_rows(rows)
    kept = entries.with_data(np.where(entries.data > 0, entries.data, 0))
    kept.eliminate_zeros()
    return kept
