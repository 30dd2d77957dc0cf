"""One split of a data set as the matrices that every contestant trains on, and what is needed to judge them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.contestant import Source, load_matrix
from benchmarks.errors import BenchmarkError
from benchmarks.measure import Stopwatch

WARM_UP_DOCUMENTS = 200

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from longtail.types import Dataset


@dataclass(frozen=True, eq=False)
class Part:
    """The truth of documents that are predicted, and pairs that are never scored."""

    truth: csr_array
    filtered: csr_array | None

    @property
    def most_filtered(self) -> int:
        """The most pairs of one document that are never scored: so many more labels must be predicted."""
        return 0 if self.filtered is None else int(np.diff(self.filtered.indptr).max(initial=0))


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
    valid: Part | None = None

    @property
    def test(self) -> Part:
        """The test split."""
        return Part(self.truth, self.filtered)

    @property
    def most_filtered(self) -> int:
        """The most pairs of one test document that are never scored."""
        return self.test.most_filtered


def prepare(source: Source, folder: Path, features: Mapping[str, Any], *, texts: bool = False) -> ContestData:
    """Reads the data, makes TF-IDF features where they have none, and writes the matrices into ``folder``.

    With ``texts``, the texts of documents and labels are written too, for peers that read them.
    """
    from longtail.data import ReadOptions, read_folder

    valid: Dataset | None = None
    if (Path(source.path) / "X.trn.npz").is_file():
        train, test = _ready_matrices(Path(source.path))
    else:
        parts = read_folder(source.path, options=ReadOptions(split=source.split))
        missing = [part for part in ("train", "test") if part not in parts]
        if missing:
            raise BenchmarkError(f"{source.path} has no {' and no '.join(missing)} part to contest on")
        train, test, valid = parts["train"], parts["test"], parts.get("valid")
    facts: dict[str, Any] = {
        "name": Path(source.path).resolve().name,
        "train_fingerprint": train.fingerprint(),
        "test_fingerprint": test.fingerprint(),
        "train_documents": len(train),
        "test_documents": len(test),
        "labels": len(train.labels),
        "filtered_pairs": 0 if test.filtered is None else int(test.filtered.nnz),
    }
    named = {"trn": train, "tst": test} | ({} if valid is None else {"val": valid})
    rows, facts["features"] = _features(named, source.fields, features)
    facts["feature_columns"] = int(rows["trn"].shape[1])
    matrices = {f"X.{name}": matrix for name, matrix in rows.items()}
    matrices |= {f"Y.{name}": part.Y for name, part in named.items()}
    matrices |= {f"F.{name}": part.filtered for name, part in named.items() if part.filtered is not None}
    _write(folder, matrices)
    if texts:
        _write_texts(folder, named, source.fields)
    return ContestData(
        folder=folder,
        source=source,
        truth=test.Y,
        filtered=test.filtered,
        train_counts=train.label_counts,
        n_train=len(train),
        facts=facts,
        valid=None if valid is None else Part(valid.Y, valid.filtered),
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
    parts: Mapping[str, Dataset], fields: tuple[str, ...], settings: Mapping[str, Any]
) -> tuple[dict[str, csr_array], dict[str, Any]]:
    given = {name: part.documents.features for name, part in parts.items()}
    if all(matrix is not None for matrix in given.values()):
        # Some libraries scale rows to length one themselves and some expect it: all get the scaled ones.
        scaled = {name: rows_of_length_one(matrix) for name, matrix in given.items() if matrix is not None}
        return scaled, {"kind": "given with the data, rows scaled to length one"}

    from longtail import config
    from longtail.systems.linear.system import LinearTree
    from longtail.text.tfidf import TfidfFeatures

    # The features that `linear` has by default, unless told otherwise.
    chosen = config.from_dict(LinearTree.Config, {"text": settings}).text
    # A few documents first: kernels are loaded, or compiled, once.
    TfidfFeatures(chosen).fit_transform(parts["trn"].documents.joined(fields)[:WARM_UP_DOCUMENTS])
    watch = Stopwatch()
    tfidf = TfidfFeatures(chosen)
    rows = {"trn": tfidf.fit_transform(parts["trn"].documents.joined(fields))}
    facts = {
        "kind": "TF-IDF of longtail",
        "fields": list(fields),
        "settings": config.to_dict(chosen),
        "fit_seconds": watch.seconds,
        "fit_cpu_seconds": watch.cpu_seconds,
    }
    watch = Stopwatch()
    rows["tst"] = tfidf.transform(parts["tst"].documents.joined(fields))
    n = max(1, len(parts["tst"]))
    facts |= {"transform_ms": 1e3 * watch.seconds / n, "transform_cpu_ms": 1e3 * watch.cpu_seconds / n}
    if "val" in parts:
        rows["val"] = tfidf.transform(parts["val"].documents.joined(fields))
    return rows, facts


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


def _write_texts(folder: Path, parts: Mapping[str, Dataset], fields: tuple[str, ...]) -> None:
    """A JSON list per part, and one of label texts; the names of columns are the words of data without texts."""
    for name, part in parts.items():
        documents = part.documents
        texts = list(documents.joined(fields))
        if documents.features is not None and not any(map(str.strip, texts)):
            texts = _column_words(documents.features)
        (folder / f"T.{name}.json").write_text(json.dumps(texts), encoding="utf-8")
    labels = parts["trn"].labels
    names = [text or id_ for id_, text in zip(labels.ids, labels.texts, strict=True)]
    (folder / "T.lbl.json").write_text(json.dumps(names), encoding="utf-8")


def _column_words(features: csr_array) -> list[str]:
    words = [f"w{column}" for column in range(features.shape[1])]
    bounds = features.indptr.tolist()
    columns = features.indices.tolist()
    return [" ".join(words[column] for column in columns[start:end]) for start, end in pairwise(bounds)]
