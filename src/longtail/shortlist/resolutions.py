"""Documents at several resolutions, from exported weights: transformed, and scored with attention over resolutions.

Each document is computed from its own numbers in an order of its own: it has the same scores, to the last bit,
alone and among others.
"""

from __future__ import annotations

import numpy as np

from longtail.errors import UsageError
from longtail.kernels import kernel
from longtail.shortlist.candidates import Candidates, over_blocks
from longtail.shortlist.scoring import dot


def transformed(x: np.ndarray, matrices: np.ndarray, shifts: np.ndarray) -> np.ndarray:
    """x + relu(M_k x + b_k) for each resolution k.

    Shapes:
        x float32 [n, K, D], matrices float32 [K, D, D], shifts float32 [K, D] -> float32 [n, K, D]
    """
    if x.ndim != 3 or x.shape[1:] != shifts.shape or matrices.shape != (*shifts.shape, x.shape[2]):
        raise UsageError(
            f"weights {matrices.shape} and {shifts.shape} do not fit embeddings {x.shape} in resolutions or width"
        )
    x = np.ascontiguousarray(x, np.float32)
    out = np.empty_like(x)
    over_blocks(len(x), lambda a, b: _transform(x[a:b], matrices, shifts, out[a:b]))
    return out


def attended(
    x: np.ndarray, candidates: Candidates, classifiers: np.ndarray, attention: np.ndarray
) -> Candidates:
    """The candidates with K times <w_l, sum over k of alpha_lk x_k> as score.

    Shapes:
        x float32 [n, K, D], classifiers float32 [L, D], attention float32 [L, K]
    """
    n_labels, width = classifiers.shape
    fits = x.shape == (len(candidates), attention.shape[1], width) and len(attention) == n_labels
    if not fits or candidates.ids.max(initial=-1) >= n_labels:
        raise UsageError(
            f"embeddings {x.shape} do not fit candidates of {len(candidates)} documents, classifiers "
            f"{classifiers.shape} and attention {attention.shape}"
        )
    x = np.ascontiguousarray(x, np.float32)
    out = np.empty(len(candidates.ids), np.float32)

    def fill(a: int, b: int) -> None:
        _attend(x[a:b], candidates.indptr[a : b + 1], candidates.ids, classifiers, attention, out)

    over_blocks(len(x), fill)
    return candidates.with_scores(out)


@kernel
def _transform(x: np.ndarray, matrices: np.ndarray, shifts: np.ndarray, out: np.ndarray) -> None:
    n, resolutions, width = x.shape
    for i in range(n):
        for k in range(resolutions):
            row = x[i, k]
            for d in range(width):
                hidden = dot(matrices[k, d], row) + shifts[k, d]
                out[i, k, d] = row[d] + max(hidden, np.float32(0))


@kernel
def _attend(
    x: np.ndarray,
    indptr: np.ndarray,
    ids: np.ndarray,
    classifiers: np.ndarray,
    attention: np.ndarray,
    out: np.ndarray,
) -> None:
    resolutions = x.shape[1]
    for i in range(len(x)):
        for p in range(indptr[i], indptr[i + 1]):
            label = ids[p]
            total = np.float32(0)
            for k in range(resolutions):
                total += attention[label, k] * dot(x[i, k], classifiers[label])
            out[p] = np.float32(resolutions) * total
