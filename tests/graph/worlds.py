"""Small label matrices and graphs for the tests of this folder."""

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array


def matrix(dense: object) -> csr_array:
    return csr_array(np.array(dense, np.float32))


def label_matrix(seed: int, n: int = 12, labels: int = 9, density: float = 0.3) -> csr_array:
    """Random documents; some labels and documents stay empty."""
    rng = np.random.default_rng(seed)
    return matrix(rng.random((n, labels)) < density * rng.random(labels) * 2)


def graph(seed: int, n: int = 8, density: float = 0.4) -> csr_array:
    """A random directed graph with counts as weights; some rows and columns are empty."""
    rng = np.random.default_rng(seed)
    return matrix(rng.integers(1, 6, (n, n)) * (rng.random((n, n)) < density))


def pruned(dense: np.ndarray, keep: int) -> np.ndarray:
    """Row by row: the diagonal where there is one, then the largest entries, equal ones by the column."""
    out = np.zeros_like(dense)
    for row, values in enumerate(dense):
        columns = [c for c in np.flatnonzero(values) if c != row]
        own = [row] if row < len(values) and values[row] else []
        best = own + sorted(columns, key=lambda c: (-values[c], c))
        out[row, best[:keep]] = values[best[:keep]]
    return out


seeds = st.integers(0, 10_000)
