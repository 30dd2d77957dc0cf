"""Reading and writing shared by the formats of matrices, where a label is a column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from longtail.data import limits
from longtail.data.encoding import UTF_8
from longtail.data.label_file import read_label_names
from longtail.data.pair_files import read_filter, read_numbered_filter
from longtail.data.parts import STEMS, Part, Parts, find_file, part_of_name
from longtail.data.records import Batch, Report, fail
from longtail.errors import DataError, UsageError
from longtail.types import Dataset, Documents, LabelSet

if TYPE_CHECKING:
    from scipy.sparse import csr_array

LABEL_NAMES = "labels.txt"


def column_labels(
    folder: Path, n_labels: int, report: Report = fail, *, entries: int = 0, encoding: str = UTF_8
) -> tuple[LabelSet, Path | None]:
    """The labels of the columns: the names in the folder's labels.txt, or else the column numbers.

    Without names, there are not far more labels than ``entries``, which the matrix has (or could have).
    """
    path = find_file(folder, [LABEL_NAMES])
    if path is None:
        limits.check_labels(n_labels, entries, folder)
        return LabelSet([str(column) for column in range(n_labels)], [""] * n_labels), None
    labels = read_label_names(path, report, encoding)
    if len(labels) != n_labels:
        raise DataError(f"there are {len(labels)} names, but {n_labels} labels in the data", path=path)
    return labels, path


def numbered_part(
    path: Path, features: csr_array, target: csr_array, labels: LabelSet, *, first_line: int = 2
) -> Part:
    """A part whose documents are rows, with the filter file that may be beside it."""
    documents = Documents.from_features(features)
    filtered = None
    filters = filter_file(path)
    if filters is not None:
        filtered = read_numbered_filter(filters, target.shape)
    lines = np.arange(first_line, first_line + len(documents))
    return Part(Dataset(documents, labels, target, filtered), path, lines, numbered=True)


def filter_file(path: Path) -> Path | None:
    """The file of number pairs that are never scored, by the XMC repository's names, beside that of a part."""
    part = part_of_name(path)
    if part is None:
        return None
    names = [f"filter_labels_{part}.txt", *(f"{stem}_filter_labels.txt" for stem in STEMS[part])]
    return find_file(path.parent, names)


def with_numbered_filters(found: Parts) -> Parts:
    """The parts with the pairs of the filter files beside them, which go by row and column numbers."""
    parts = {}
    for name, part in found.parts.items():
        path = filter_file(part.path)
        data, unknown = part.data, 0
        if path is not None and found.listed is not None:
            data = replace(data, filtered=read_numbered_filter(path, data.Y.shape))
        elif path is not None:
            # Without a file of labels their columns are in order of appearance, and only the ids are numbers.
            rows = {str(row): row for row in range(len(data))}
            filtered, unknown = read_filter(path, rows, data.labels.index, data.Y.shape)
            data = replace(data, filtered=filtered)
        parts[name] = replace(part, data=data, unknown_filters=unknown)
    return replace(found, parts=parts)


def matrix_batches(
    blocks: Iterable[tuple[csr_array, csr_array]], labels: Sequence[str], size: int
) -> Iterator[Batch]:
    """Documents and label ids, ``size`` at a time, from blocks of feature rows and label rows."""
    from scipy.sparse import csr_array, vstack

    start = 0
    waiting: list[tuple[csr_array, csr_array]] = []

    def batch(features: csr_array, target: csr_array) -> Batch:
        ids = [str(start + row) for row in range(features.shape[0])]
        rows = [
            [labels[column] for column in target.indices[target.indptr[row] : target.indptr[row + 1]]]
            for row in range(target.shape[0])
        ]
        return Documents.from_features(features, ids), rows

    def joined() -> tuple[csr_array, csr_array]:
        features, target = zip(*waiting, strict=True)
        return csr_array(vstack(features, format="csr")), csr_array(vstack(target, format="csr"))

    for block in blocks:
        waiting.append(block)
        features, target = joined()
        waiting.clear()
        while features.shape[0] >= size:
            yield batch(features[:size], target[:size])
            start += size
            features, target = features[size:], target[size:]
        if features.shape[0]:
            waiting.append((features, target))
    if waiting:
        yield batch(*joined())


def no_labels(n_rows: int) -> csr_array:
    """The label rows of documents in a file that has none."""
    from scipy.sparse import csr_array

    nothing = np.empty(0, np.float32), np.empty(0, np.int32), np.zeros(n_rows + 1, np.int64)
    return csr_array(nothing, shape=(n_rows, 0))


def features_of(data: Dataset, format: str) -> csr_array:
    """The feature rows to write, or an error that says what to do without."""
    if data.documents.features is None:
        raise UsageError(
            f"the format {format} holds feature rows, which these documents do not have: write jsonl or text2text"
        )
    return data.documents.features


def write_label_names(labels: LabelSet, path: Path) -> None:
    """Write the labels' ids a line, unless they are nothing but column numbers."""
    if labels.ids == [str(column) for column in range(len(labels))]:
        return
    with open(path, "w", encoding="utf-8", newline="\n") as handle:
        for label in labels.ids:
            if not label or any(mark in label for mark in "\r\n\0\ufeff"):
                raise DataError(f"the label id {label!r} cannot be a line of {path.name}")
            handle.write(f"{label}\n")


def write_numbered_filter(data: Dataset, path: Path) -> None:
    """Write the pairs that are never scored as row and column numbers, if there are any."""
    if data.filtered is not None:
        pairs = data.filtered.tocoo()
        np.savetxt(path, np.column_stack([pairs.row, pairs.col]), fmt="%d")
