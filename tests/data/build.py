"""Small data sets for the tests of this folder."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array

from longtail.types import Dataset, Documents, LabelSet

# Any character but surrogates, which are no text.
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def put(path: Path, content: str | bytes) -> Path:
    """Write a file, compressed if its name says so; parents are created."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    if path.suffix == ".gz":
        data = gzip.compress(data)
    elif path.suffix == ".xz":
        data = lzma.compress(data)
    path.write_bytes(data)
    return path


def matrix_dataset(n: int, d: int, n_labels: int, seed: int, names: list[str] | None = None) -> Dataset:
    """Random feature rows and labels, some rows and columns empty."""
    rng = np.random.default_rng(seed)
    X = random_array((n, d), density=0.3, format="csr", dtype=np.float32, rng=rng)
    X.data = (X.data * 10.0 ** rng.integers(-9, 9, X.nnz)).astype(np.float32)
    X.data[rng.random(X.nnz) < 0.3] *= -1
    Y = random_array((n, n_labels), density=0.2, format="csr", dtype=np.float32, rng=rng)
    Y.data[:] = 1.0
    X, Y = csr_array(X), csr_array(Y)
    X.sort_indices()
    Y.sort_indices()
    ids = names or [str(i) for i in range(n_labels)]
    return Dataset(Documents.from_features(X), LabelSet(ids, [""] * n_labels), Y)


def same_matrix(a: csr_array, b: csr_array) -> bool:
    """Equal shape and entries, to the bit."""
    return a.shape == b.shape and (a != b).nnz == 0


def tags(data: Dataset) -> list[list[str]]:
    """The label ids of each document."""
    return [
        [data.labels.ids[c] for c in data.Y.indices[data.Y.indptr[i] : data.Y.indptr[i + 1]]]
        for i in range(len(data))
    ]
