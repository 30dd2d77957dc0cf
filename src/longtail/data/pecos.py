"""PECOS matrices: X.trn.npz, Y.trn.npz, X.tst.npz, Y.tst.npz, compressed sparse rows without pickled objects.

Where the texts are there too (X.trn.txt, one document a line; output-items.txt, one label a line) they are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from longtail.data.encoding import UTF_8
from longtail.data.format import Files, Format
from longtail.data.label_file import without_last_blank
from longtail.data.lines import text_lines
from longtail.data.matrix_folder import (
    LABEL_NAMES,
    column_labels,
    features_of,
    matrix_batches,
    no_labels,
    numbered_part,
    write_label_names,
    write_numbered_filter,
)
from longtail.data.npz import read_npz
from longtail.data.options import ReadOptions
from longtail.data.parts import PARTS, STEMS, Part, Parts, find_file
from longtail.data.records import Batch, Report, fail, single_entries
from longtail.data.xmc_split import SHORT
from longtail.errors import DataError
from longtail.types import Dataset, LabelSet

if TYPE_CHECKING:
    from scipy.sparse import csr_array

ITEMS = ("output-items.txt", "output-labels.txt")


def read(files: Files, folder: Path | None, options: ReadOptions, report: Report) -> Parts:
    """Read these parts, each with the file of labels beside its features."""
    found = {part: _pair(path) for part, path in files.items()}
    (_, target), *_others = found.values()
    for part, (_, other) in found.items():
        if other.shape[1] != target.shape[1]:
            raise DataError("the parts have different numbers of labels", path=files[part])
    home = folder or next(iter(files.values())).parent
    named = sum(target.nnz for _, target in found.values())
    labels, labels_path = item_labels(home, target.shape[1], report, entries=named, encoding=options.encoding)
    parts = {part: _part(files[part], *pair, labels, options.encoding) for part, pair in found.items()}
    return Parts(labels, None if labels_path is None else len(labels), parts, labels_path)


def stream(path: Path, options: ReadOptions, size: int) -> Iterator[Batch]:
    """The documents of one matrix, some at a time."""
    features, target = _pair(path)
    labels, _ = item_labels(path.parent, target.shape[1], entries=target.nnz, encoding=options.encoding)
    yield from matrix_batches([(features, target)], labels.ids, size)


def write(parts: Mapping[str, Dataset], folder: Path) -> None:
    """Write two matrices a part, the labels' texts, and their names."""
    for part, data in parts.items():
        write_npz(folder / f"X.{SHORT[part]}.npz", features_of(data, "pecos"))
        write_npz(folder / f"Y.{SHORT[part]}.npz", data.Y)
        write_numbered_filter(data, folder / f"filter_labels_{part}.txt")
    labels = next(iter(parts.values())).labels
    write_label_names(labels, folder / LABEL_NAMES)
    if labels.has_text:
        write_items(labels, folder / ITEMS[0])


def write_npz(path: Path, matrix: csr_array) -> None:
    """Write a matrix as scipy's load_npz and PECOS read it."""
    with open(path, "wb") as handle:
        np.savez(
            handle,
            format=np.array(b"csr"),
            shape=np.array(matrix.shape),
            data=matrix.data.astype(np.float32),
            indices=matrix.indices,
            indptr=matrix.indptr,
        )


def item_labels(
    folder: Path,
    n_labels: int | None,
    report: Report = fail,
    *,
    entries: int = 0,
    encoding: str = UTF_8,
) -> tuple[LabelSet, Path | None]:
    """The labels of the columns with the texts of output-items.txt; None takes as many as the file has."""
    items = find_file(folder, ITEMS)
    texts = [] if items is None else [line for _, line in without_last_blank(text_lines(items, encoding))]
    n = len(texts) if n_labels is None else n_labels
    if items is not None and len(texts) != n:
        raise DataError(f"there are {len(texts)} items, but {n} labels in the data", path=items)
    names, names_path = column_labels(folder, n, report, entries=max(entries, len(texts)), encoding=encoding)
    return (names, names_path) if items is None else (LabelSet(names.ids, texts), items)


def write_items(labels: LabelSet, path: Path) -> None:
    """Write the text of each label (its id, if it has none) as one line."""
    with open(path, "w", encoding="utf-8", newline="\n") as handle:
        for id_, text in zip(labels.ids, labels.texts, strict=True):
            handle.write(f"{one_line(text or id_)}\n")


def one_line(text: str) -> str:
    """The text with its white space as single spaces, as formats of one text a line need it."""
    return " ".join(text.replace("\0", " ").replace("\ufeff", " ").split())


def _part(path: Path, features: csr_array, target: csr_array, labels: LabelSet, encoding: str) -> Part:
    part = numbered_part(path, features, target, labels, first_line=1)
    texts_path = find_file(path.parent, [path.name.replace(".npz", ".txt")])
    if texts_path is None:
        return part
    texts = [line for _, line in text_lines(texts_path, encoding)]
    if len(texts) != len(part.data):
        raise DataError(
            f"there are {len(texts)} texts, but {len(part.data)} rows in {path.name}", path=texts_path
        )
    documents = replace(part.data.documents, texts=texts)
    return replace(part, data=replace(part.data, documents=documents))


def _pair(path: Path) -> tuple[csr_array, csr_array]:
    features = read_npz(path)
    beside = path.with_name(f"Y{path.name[1:]}")
    if not path.name.startswith("X.") or not beside.is_file():
        return features, no_labels(features.shape[0])
    target = read_npz(beside)
    if target.shape[0] != features.shape[0]:
        problem = f"there are {target.shape[0]} rows of labels, but {features.shape[0]} rows of features"
        raise DataError(problem, path=beside)
    if len(target.data) and target.data.min() < 0:
        raise DataError("a label's weight is negative", path=beside)
    return features, single_entries(target)


def _files(folder: Path) -> dict[str, Path]:
    found = {part: find_file(folder, [f"X.{stem}.npz" for stem in STEMS[part]]) for part in PARTS}
    return {part: path for part, path in found.items() if path is not None}


def _fits_file(path: Path) -> bool:
    return path.suffix.lower() == ".npz"


FORMAT = Format(
    name="pecos",
    shape="X.trn.npz, Y.trn.npz, X.tst.npz, Y.tst.npz: sparse matrices as scipy saves them",
    files=_files,
    fits_file=_fits_file,
    read=read,
    stream=stream,
    write=write,
    keeps_weights=True,
)
