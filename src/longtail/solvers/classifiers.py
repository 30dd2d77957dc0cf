"""Linear classifiers for some labels on some documents: gather the documents, solve, prune to sparse weights."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from longtail.errors import ConfigError
from longtail.kernels import kernel
from longtail.solvers.dual_descent import LOGISTIC, SQUARED_HINGE, solve

_LOSSES = {"squared_hinge": SQUARED_HINGE, "logistic": LOGISTIC}
_scratch = threading.local()

USUAL_COST, USUAL_PRUNE = 1.0, 0.05
"""What ``auto`` means where nothing is known about the data."""
GATHERED = 1 << 25
"""Up to so many entries, the documents of a node are copied over just the features they use, which is faster.
Above, a node that has all documents works on them where they are, which may be on the disk."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SolverConfig:
    """How the linear classifiers are trained."""

    loss: Literal["squared_hinge", "logistic"] = "squared_hinge"
    """squared_hinge ranks a little better; logistic gives probabilities."""
    cost: float | Literal["auto"] = "auto"
    """Weight of the losses against the regularisation: higher fits training closer; auto: 1, or if the labels are
    a single cluster, the better one of 1 and 0.3 on a fifth of the documents."""
    bias: float = 1.0
    """Value of the constant feature; 0 for none."""
    tolerance: float = 0.1
    """Stop when no document violates the optimality conditions by more."""
    max_passes: int = 20
    """Passes over the documents of a node at most."""
    prune: float | Literal["auto"] = "auto"
    """Weights of smaller magnitude are dropped after training: smaller and faster models; auto: 0.08 if documents
    are short, where fewer weights add up, else 0.05."""

    def __post_init__(self) -> None:
        for name in ("cost", "tolerance", "max_passes"):
            value = getattr(self, name)
            if value != "auto" and not value > 0:
                raise ConfigError(f"'{name}' must be above 0, not {value}")
        for name in ("bias", "prune"):
            value = getattr(self, name)
            if value != "auto" and not value >= 0:
                raise ConfigError(f"'{name}' must be 0 or more, not {value}")


@dataclass(frozen=True, slots=True, eq=False)
class SparseWeights:
    """What was learned for a few labels, over just the features that their documents use.

    Shapes:
        features int32 [f], sorted; weights [f, labels]; bias float32 [labels]
    """

    features: np.ndarray
    weights: csr_array
    bias: np.ndarray


def train_classifiers(
    X: csr_array, rows: np.ndarray, positives: csr_array, config: SolverConfig, seed: int
) -> SparseWeights:
    """Train one classifier a column of ``positives`` on the documents ``rows`` of X.

    Shapes:
        rows int64 [n]; positives [n, labels], its row i belonging to document rows[i]
    """
    whole = len(rows) == X.shape[0] and X.nnz > GATHERED
    if whole:
        features = np.flatnonzero(_used(X.indices, X.shape[1])).astype(np.int32)
        indptr, indices, data, width = X.indptr.astype(np.int64), X.indices, X.data, X.shape[1]
    else:
        if getattr(_scratch, "size", -1) != X.shape[1]:
            _scratch.place, _scratch.size = np.full(X.shape[1], -1, np.int32), X.shape[1]
        features, indptr, indices, data = _gather(X.indptr, X.indices, X.data, rows, _scratch.place)
        width = len(features)
    dense = solve(
        indptr,
        indices,
        data,
        width,
        positives.indptr.astype(np.int64),
        positives.indices.astype(np.int64),
        positives.shape[1],
        _LOSSES[config.loss],
        USUAL_COST if config.cost == "auto" else config.cost,
        config.bias,
        config.tolerance,
        config.max_passes,
        seed,
    )
    weights = dense[features] if whole else dense[:-1]
    row_ptr, columns, values = _prune(weights, USUAL_PRUNE if config.prune == "auto" else config.prune)
    sparse = csr_array((values, columns, row_ptr), shape=(len(features), positives.shape[1]))
    return SparseWeights(features, sparse, np.float32(config.bias) * dense[-1])


@kernel
def _gather(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, rows: np.ndarray, place: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The documents ``rows`` over just the features they use; ``place`` is scratch of -1 and is left so."""
    new_ptr = np.zeros(len(rows) + 1, np.int64)
    for i in range(len(rows)):
        new_ptr[i + 1] = new_ptr[i] + indptr[rows[i] + 1] - indptr[rows[i]]
    features = np.empty(new_ptr[-1], np.int32)
    n_features = 0
    for row in rows:
        for p in range(indptr[row], indptr[row + 1]):
            if place[indices[p]] < 0:
                place[indices[p]] = 0
                features[n_features] = indices[p]
                n_features += 1
    features = np.sort(features[:n_features])
    for f in range(n_features):
        place[features[f]] = f
    new_indices = np.empty(new_ptr[-1], np.int32)
    new_data = np.empty(new_ptr[-1], np.float32)
    q = 0
    for row in rows:
        for p in range(indptr[row], indptr[row + 1]):
            new_indices[q] = place[indices[p]]
            new_data[q] = data[p]
            q += 1
    for f in features:
        place[f] = -1
    return features, new_ptr, new_indices, new_data


@kernel
def _used(indices: np.ndarray, n_features: int) -> np.ndarray:
    """Which features have an entry."""
    used = np.zeros(n_features, np.bool_)
    for p in range(len(indices)):
        used[indices[p]] = True
    return used


@kernel
def _prune(weights: np.ndarray, smallest: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The entries of at least this magnitude, as CSR."""
    n_features, n_labels = weights.shape
    row_ptr = np.zeros(n_features + 1, np.int64)
    for f in range(n_features):
        count = 0
        for c in range(n_labels):
            count += weights[f, c] != 0 and abs(weights[f, c]) >= smallest
        row_ptr[f + 1] = row_ptr[f] + count
    columns = np.empty(row_ptr[-1], np.int32)
    values = np.empty(row_ptr[-1], np.float32)
    q = 0
    for f in range(n_features):
        for c in range(n_labels):
            if weights[f, c] != 0 and abs(weights[f, c]) >= smallest:
                columns[q] = c
                values[q] = weights[f, c]
                q += 1
    return row_ptr, columns, values
