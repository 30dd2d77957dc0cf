"""From counts to weights: three ways of normalising a directed graph.

In all, a node that has nothing but a self-loop keeps exactly 1: its row is a unit vector.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail.errors import UsageError
from longtail.graph.rows import sorted_rows, square_rows

TELEPORT = 0.1
MAX_ROUNDS = 1000
TOLERANCE = 1e-12


def symmetric(counts: csr_array) -> csr_array:
    """A^-1/2 G B^-1/2 with the row sums A and the column sums B of G, which favours edges of rare labels.

    Equation in section 3.2 of ECLARE. Rows and columns without edges stay empty.
    """
    graph = sorted_rows(counts)
    rows = graph.row_of_each
    row_sums = np.bincount(rows, weights=graph.data, minlength=graph.shape[0])
    column_sums = np.bincount(graph.indices, weights=graph.data, minlength=graph.shape[1])
    # One root of the product, not two: a lone self-loop is then c / sqrt(c * c), which is 1 to the last bit.
    scale = np.sqrt(row_sums[rows] * column_sums[graph.indices])
    values = np.divide(graph.data, scale, out=np.zeros_like(scale), where=scale > 0)
    return graph.with_data(values.astype(np.float32))


def by_rows(graph: csr_array) -> csr_array:
    """Rows divided by their sums: what a node receives is a mean of what its neighbours have.

    Rows without edges stay empty.
    """
    rows = sorted_rows(graph)
    return rows.with_data(rows.row_shares()[0].astype(np.float32))


def perron(counts: csr_array, *, teleport: float = TELEPORT) -> csr_array:
    """(Pi^1/2 P Pi^-1/2 + Pi^-1/2 P^T Pi^1/2) / 2: the normalisation of directed graphs of Chung (2005).

    P has the rows of G divided by their sums, pi is its stationary distribution. A label graph falls into
    many pieces, where pi is not unique, so pi is that of a walk which jumps to any node with probability
    ``teleport`` (and from a node without edges always). Only pi sees the jumps: P itself stays sparse. The
    result is symmetric and has up to twice the edges of G.
    """
    graph = square_rows(counts)
    rows = graph.row_of_each
    steps, sums = graph.row_shares()
    pi = _stationary(graph.with_data(steps), sums <= 0, teleport)
    # The ratio first: on the diagonal it is 1 to the last bit.
    half = graph.with_data(steps * np.sqrt(pi[rows] / pi[graph.indices]))
    return csr_array(((half + half.T) / 2).astype(np.float32))


def _stationary(P: csr_array, stuck: np.ndarray, teleport: float) -> np.ndarray:
    """The distribution that a step of the walk with jumps leaves as it is, by power iteration."""
    if not 0 < teleport <= 1:
        raise UsageError(f"teleport is a probability above 0, not {teleport}")
    n = P.shape[0]
    backwards = csr_array(P.T)
    if n == 0:
        return np.zeros(0)
    pi = np.full(n, 1 / n)
    for _ in range(MAX_ROUNDS):
        jumps = teleport + (1 - teleport) * pi[stuck].sum()
        following = (1 - teleport) * (backwards @ pi) + jumps / n
        change = np.abs(following - pi).sum()
        pi = following
        if change < TOLERANCE:
            break
    return pi
