"""Labels that join a finished graph, without a change to the labels that are there."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array, hstack, vstack

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
    n_old, n_new = G.shape[0], rows.shape[0]
    entries = sorted_rows(rows)
    positive = entries.with_data(np.maximum(entries.data, 0))
    positive.eliminate_zeros()
    # The new nodes' columns in front make the self-loops a diagonal, which always survives.
    kept = strongest(csr_array(hstack([eye_array(n_new), positive])), keep)
    edges = sorted_rows(kept[:, n_new:])
    shares, sums = edges.row_shares()
    own = np.where(sums > 0, OWN_SHARE, 1)
    new_rows = hstack([edges.with_data((1 - OWN_SHARE) * shares), diags_array(own)])
    old_rows = csr_array((G.data, G.indices, G.indptr), shape=(n_old, n_old + n_new))
    return csr_array(vstack([old_rows, new_rows.astype(G.dtype)], format="csr"))
