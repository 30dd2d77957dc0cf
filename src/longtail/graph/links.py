"""Known links between labels, such as those of a hierarchy, as further edges of a graph of counts."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array


def with_links(counts: csr_array, links: csr_array, weight: float, heads: np.ndarray) -> csr_array:
    """The counts with edges along the links, in both directions.

    The links of a label together have ``weight`` times the sum of its counts, in equal parts. Head labels, which
    are cut out of the graph, get none.

    Shapes:
        counts, links [L, L]; heads bool [L] -> float32 [L, L]
    """
    inside = diags_array((~heads).astype(np.float32))
    both = csr_array(inside @ (links + links.T).astype(bool).astype(np.float32) @ inside)
    both.setdiag(0)
    both.eliminate_zeros()
    degrees = np.maximum(np.diff(both.indptr), 1)
    share = weight * np.asarray(counts.sum(axis=1)).ravel() / degrees
    return csr_array(counts + diags_array(share.astype(np.float32)) @ both).astype(np.float32)
