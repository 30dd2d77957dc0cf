"""One split of a data set as the matrices that every contestant trains on, and what is needed to judge them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.contestant import Source, load_matrix
from benchmarks.errors import BenchmarkError
from benchmarks.measure import Stopwatch

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from longtail.types import Dataset


@dataclass(frozen=True, eq=False)
class ContestData:
    """The matrices' folder, the truth of the test split, and facts for the result."""

    folder: Path
    source: Source
    truth: csr_array
    filtered: csr_array | None
    train_counts: np.ndarray
    n_train: int
    facts: dict[str, Any]

    @property
    def most_filtered(self) -> int:
        """The most pairs of one document that are never scored: so many more labels must be predicted."""
        return 0 if self.filtered is None else int(np.diff(self.filtered.indptr).max(initial=0))


def prepare(source: Source, folder: Path, features: Mapping[str, Any]) -> ContestData:
    """Reads the data, makes TF-IDF features where they have none, and writes the matrices into ``folder``."""
    from longtail.data import ReadOptions, read_folder

    if (Path(source.path) / "X.trn.npz").is_file():
        train, test = _ready_matrices(Path(source.path))
    else:
        parts = read_folder(source.path, options=ReadOptions(split=source.split))
        missing = [part for part in ("train", "test") if part not in parts]
        if missing:
            raise BenchmarkError(f"{source.path} has no {' and no '.join(missing)} part to contest on")
        train, test = parts["train"], parts["test"]
    facts: dict[str, Any] = {
        "name": Path(source.path).resolve().name,
        "train_fingerprint": train.fingerprint(),
        "test_fingerprint": test.fingerprint(),
        "train_documents": len(train),
        "test_documents": len(test),
        "labels": len(train.labels),
        "filtered_pairs": 0 if test.filtered is None else int(test.filtered.nnz),
    }
    X, X_test, facts["features"] = _features(train, test, source.fields, features)
    facts["feature_columns"] = int(X.shape[1])
    _write(folder, {"X.trn": X, "Y.trn": train.Y, "X.tst": X_test, "Y.tst": test.Y})
    return ContestData(
        folder=folder,
        source=source,
        truth=test.Y,
        filtered=test.filtered,
        train_counts=train.label_counts,
        n_train=len(train),
        facts=facts,
    )


def _ready_matrices(folder: Path) -> tuple[Dataset, Dataset]:
    from dataclasses import replace

    from scipy.sparse import csr_array

    from longtail.types import Dataset

    def part(name: str) -> Dataset:
        return Dataset.from_matrix(
            load_matrix(folder / f"X.{name}.npz"), load_matrix(folder / f"Y.{name}.npz")
        )

    test, filter_file = part("tst"), folder / "F.tst.npz"
    if filter_file.is_file():
        test = replace(test, filtered=csr_array(load_matrix(filter_file)))
    return part("trn"), test


def _features(
    train: Dataset, test: Dataset, fields: tuple[str, ...], settings: Mapping[str, Any]
) -> tuple[csr_array, csr_array, dict[str, Any]]:
    if train.documents.features is not None and test.documents.features is not None:
        # Some libraries scale rows to length one themselves and some expect it: all get the scaled ones.
        given = (train.documents.features, test.documents.features)
        X, X_test = (rows_of_length_one(matrix) for matrix in given)
        return X, X_test, {"kind": "given with the data, rows scaled to length one"}

    from longtail import config
    from longtail.systems.linear.system import LinearTree
    from longtail.text.tfidf import TfidfFeatures

    # The features that `linear` has by default, unless told otherwise.
    chosen = config.from_dict(LinearTree.Config, {"text": settings}).text
    watch = Stopwatch()
    tfidf = TfidfFeatures(chosen)
    X = tfidf.fit_transform(train.documents.joined(fields))
    fit_seconds = watch.seconds
    watch = Stopwatch()
    X_test = tfidf.transform(test.documents.joined(fields))
    facts = {
        "kind": "TF-IDF of longtail",
        "fields": list(fields),
        "settings": config.to_dict(chosen),
        "fit_seconds": fit_seconds,
        "transform_ms": 1e3 * watch.seconds / max(1, len(test)),
    }
    return X, X_test, facts


def rows_of_length_one(matrix: csr_array) -> csr_array:
    """A copy with every row scaled to length one; rows without an entry stay as they are."""
    scaled = matrix.astype(np.float32)
    rows = np.repeat(np.arange(scaled.shape[0]), np.diff(scaled.indptr))
    squares = np.bincount(rows, weights=scaled.data.astype(np.float64) ** 2, minlength=scaled.shape[0])
    lengths = np.sqrt(squares)
    scaled.data /= np.where(lengths > 0, lengths, 1)[rows].astype(np.float32)
    return scaled


def _write(folder: Path, matrices: Mapping[str, csr_array]) -> None:
    from scipy import sparse

    folder.mkdir(parents=True, exist_ok=True)
    for name, matrix in matrices.items():
        # The old class, because the scipy of a peer may be too old for sparse arrays.
        old = sparse.csr_matrix(matrix, dtype=np.float32)
        old.sum_duplicates()
        sparse.save_npz(folder / f"{name}.npz", old)
