"""The XMC repository's split format: features in trn_X_Xf.txt, labels in trn_X_Y.txt, each with a header.

Where the labels have features of their own, lbl_X_Xf.txt has a row a label over the documents' columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from longtail.data.format import Files, Format
from longtail.data.lines import bare_name
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
from longtail.data.options import ReadOptions
from longtail.data.parts import Parts, find_file, part_files
from longtail.data.records import Batch, Report, single_entries
from longtail.data.sparse_text import read_sparse, write_sparse
from longtail.errors import DataError, UsageError
from longtail.types import Dataset, LabelSet

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FEATURES, TARGET = "_X_Xf.txt", "_X_Y.txt"
LABEL_FEATURES = f"lbl{FEATURES}"
SHORT = {"train": "trn", "valid": "val", "test": "tst"}


def read(files: Files, folder: Path | None, options: ReadOptions, report: Report) -> Parts:
    """Read these parts, each with the file of labels beside its features."""
    found = {part: _pair(path) for part, path in files.items()}
    (_, target), *_others = found.values()
    for part, (_, other) in found.items():
        if other.shape[1] != target.shape[1]:
            raise DataError("the parts have different numbers of labels", path=files[part], line=1)
    home = folder or next(iter(files.values())).parent
    named = sum(target.nnz for _, target in found.values())
    labels, labels_path = column_labels(
        home, target.shape[1], report, entries=named, encoding=options.encoding
    )
    labels = _with_features(labels, home, {files[part]: pair[0].shape[1] for part, pair in found.items()})
    parts = {part: numbered_part(files[part], *pair, labels) for part, pair in found.items()}
    return Parts(labels, None if labels_path is None else len(labels), parts, labels_path)


def stream(path: Path, options: ReadOptions, size: int) -> Iterator[Batch]:
    """The documents of one file of features, some at a time."""
    features, target = _pair(path)
    labels, _ = column_labels(path.parent, target.shape[1], entries=target.nnz, encoding=options.encoding)
    yield from matrix_batches([(features, target)], labels.ids, size)


def write(parts: Mapping[str, Dataset], folder: Path) -> None:
    """Write two files a part, the labels' names, and their features if they have any."""
    labels = next(iter(parts.values())).labels
    for part, data in parts.items():
        features = features_of(data, "xmc-split")
        if labels.features is not None and labels.features.shape[1] != features.shape[1]:
            raise UsageError(
                f"the labels have {labels.features.shape[1]} features and the documents of {part} "
                f"{features.shape[1]}: the format xmc-split has one number of columns for both"
            )
        write_sparse(folder / f"{SHORT[part]}{FEATURES}", features)
        write_sparse(folder / f"{SHORT[part]}{TARGET}", data.Y)
        write_numbered_filter(data, folder / f"filter_labels_{part}.txt")
    write_label_names(labels, folder / LABEL_NAMES)
    if labels.features is not None:
        write_sparse(folder / LABEL_FEATURES, labels.features)


def _pair(path: Path) -> tuple[csr_array, csr_array]:
    """Features and labels; without a file of labels, no labels."""
    features = read_sparse(path, has_labels=False).entries
    beside = find_file(path.parent, [bare_name(path).replace(FEATURES.lower(), TARGET)])
    if beside is None or bare_name(path) == bare_name(beside):
        return features, no_labels(features.shape[0])
    target = read_sparse(beside, has_labels=False).entries
    if target.shape[0] != features.shape[0]:
        problem = f"there are {target.shape[0]} rows of labels, but {features.shape[0]} rows of features"
        raise DataError(problem, path=beside, line=1)
    negative = np.flatnonzero(target.data < 0)
    if len(negative):
        row = int(np.searchsorted(target.indptr, negative[0], side="right"))
        raise DataError("a label's weight is negative", path=beside, line=row + 1)
    return features, single_entries(target)


def _with_features(labels: LabelSet, folder: Path, widths: Mapping[Path, int]) -> LabelSet:
    """The labels with the rows of the folder's file of label features, which are as wide as the documents'."""
    path = find_file(folder, [LABEL_FEATURES])
    if path is None or not len(labels):
        # Documents to be tagged come without labels, and need none of their features.
        return labels
    features = read_sparse(path, has_labels=False).entries
    rows, columns = features.shape
    if rows != len(labels):
        problem = f"there are {rows} rows of label features, but {len(labels)} labels in the data"
        raise DataError(problem, path=path, line=1)
    for documents, width in widths.items():
        if width != columns:
            problem = f"there are {columns} columns of label features, but {width} in {documents.name}"
            raise DataError(problem, path=path, line=1)
    return replace(labels, features=features)


def _files(folder: Path) -> dict[str, Path]:
    return part_files(folder, [FEATURES])


def _fits_file(path: Path) -> bool:
    return bare_name(path).endswith(FEATURES.lower())


FORMAT = Format(
    name="xmc-split",
    shape="trn_X_Xf.txt, trn_X_Y.txt, tst_X_Xf.txt, tst_X_Y.txt: a header of the numbers of rows and columns, "
    "then 0:0.5 7:1.0 a line",
    files=_files,
    fits_file=_fits_file,
    read=read,
    stream=stream,
    write=write,
    keeps_weights=True,
    keeps_label_features=True,
)
