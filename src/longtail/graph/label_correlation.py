"""Which labels imply which: the correlation matrix of GNN-XML (Eq. 8), as a sparse, symmetric graph.

Two things are not as the equation is printed. Its weight tau / sum B_ij would stand in every cell, whether labels
are tied or not: here it is multiplied with B_ij. And its rows sum to 1, so that normalising would change nothing
and the Laplacian would not be symmetric: here a tie counts for both labels, and weights are the mean of both
directions.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array

from longtail.errors import UsageError
from longtail.graph.cooccurrence import cooccurrence_counts

MOST_TIES = 256
"""Labels that a label is looked at together with: the most frequent ones."""


def label_correlation(
    Y: csr_array, *, threshold: float = 0.4, weight: float = 0.25, fewest: int = 2
) -> csr_array:
    """The graph A of labels: 1 - tau on the diagonal, the ties of a label share tau.

    Labels i and j are tied where P(j | i) or P(i | j) reaches the threshold and they share enough documents. One
    without ties has 1 on the diagonal and nothing else.

    Args:
        Y: documents x labels.
        threshold: rho, from above 0 to 1.
        weight: tau, what the ties of a label have together, from 0 to 1.
        fewest: documents that two labels must share: a label that was seen once implies all others of its document.

    Shapes:
        Y [n, L] -> float32 [L, L]
    """
    if not 0 < threshold <= 1:
        raise UsageError(
            f"the threshold of label correlations must be above 0 and at most 1, not {threshold}"
        )
    if not 0 <= weight <= 1:
        raise UsageError(f"the weight of label correlations must be from 0 to 1, not {weight}")
    ties = _ties(Y, threshold, fewest)
    degrees = np.diff(ties.indptr)
    share = np.where(degrees > 0, weight / np.maximum(degrees, 1), 0).astype(np.float32)
    directed = csr_array(diags_array(share) @ ties)
    own = np.where(degrees > 0, 1 - weight, 1).astype(np.float32)
    graph = csr_array((directed + directed.T) * np.float32(0.5) + diags_array(own))
    graph.sort_indices()
    return graph


def _ties(Y: csr_array, threshold: float, fewest: int) -> csr_array:
    """B: ones where labels are tied, the same in both directions, nothing on the diagonal."""
    n_labels = Y.shape[1]
    widest = int(np.diff(Y.indptr).max(initial=0))
    # The shares P(j | i) of all j sum to at most the labels of a document: no more can reach the threshold.
    keep = max(1, min(n_labels, MOST_TIES, int(widest / threshold) + 1))
    counts = cooccurrence_counts(Y, keep=keep)
    each = np.bincount(Y.indices, minlength=n_labels)
    rows = np.repeat(np.arange(n_labels), np.diff(counts.indptr))
    # A little below the threshold, so that 2 of 5 reach 0.4 whatever the rounding.
    tied = (
        (rows != counts.indices) & (counts.data >= (threshold - 1e-9) * each[rows]) & (counts.data >= fewest)
    )
    one_way = csr_array(
        (np.ones(int(tied.sum()), np.float32), (rows[tied], counts.indices[tied])), shape=(n_labels, n_labels)
    )
    both = csr_array(one_way + one_way.T)
    both.data[:] = 1
    return both
