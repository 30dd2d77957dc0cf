"""Random rankings and truths for the tests: empty rows, short rankings and ties included."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, random_array


def matrix(rows: list[list[int]], n_labels: int) -> csr_array:
    indptr = np.concatenate([[0], np.cumsum([len(r) for r in rows], dtype=np.int64)])
    indices = np.array([c for r in rows for c in sorted(r)], dtype=np.int32)
    return csr_array((np.ones(len(indices), np.float32), indices, indptr), shape=(len(rows), n_labels))


def ranking(rows: list[list[int]], k: int) -> np.ndarray:
    labels = np.full((len(rows), k), -1, np.int32)
    for i, row in enumerate(rows):
        labels[i, : len(row)] = row
    return labels


def many_rows(n: int, n_labels: int = 50, seed: int = 0) -> csr_array:
    """A random matrix with enough rows for several threads, some of them empty."""
    rng = np.random.default_rng(seed)
    return csr_array(random_array((n, n_labels), density=0.1, format="csr", dtype=np.float32, rng=rng))


def random_world(
    seed: int, n: int = 60, n_labels: int = 25, k: int = 7
) -> tuple[list[list[int]], list[list[int]]]:
    """Truth and predicted rows; about one in six of either is empty."""
    rng = np.random.default_rng(seed)
    skew = 1 / np.arange(1, n_labels + 1)
    skew /= skew.sum()

    def row(longest: int) -> list[int]:
        size = 0 if rng.random() < 1 / 6 else int(rng.integers(1, longest + 1))
        return [int(c) for c in rng.choice(n_labels, size=size, replace=False, p=skew)]

    return [row(12) for _ in range(n)], [row(k) for _ in range(n)]
