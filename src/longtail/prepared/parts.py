"""The parts of prepared data: documents and their label matrices as files, and labels as JSON lines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from longtail.data.spool import Spool, mapped_columns
from longtail.errors import DataError
from longtail.storage.flat_files import INT64, mapped, writing_flat
from longtail.storage.jsonfile import read_jsonl, write_jsonl
from longtail.text.spill import mapped_rows, row_files
from longtail.types import Dataset, Documents, LabelSet

LABELS = "labels.jsonl"
MATRICES = ("Y", "filtered", "revealed")


def write_labels(labels: LabelSet, folder: Path) -> None:
    """Write ids, texts and further keys of all labels."""
    extra = labels.extra or [{}] * len(labels)
    records = (
        {"id": id_, "text": text, "extra": dict(more)}
        for id_, text, more in zip(labels.ids, labels.texts, extra, strict=True)
    )
    write_jsonl(folder / LABELS, records)


def read_labels(folder: Path) -> LabelSet:
    """What ``write_labels`` wrote."""
    records = list(read_jsonl(folder / LABELS))
    extra = [record["extra"] for record in records]
    return LabelSet(
        [record["id"] for record in records],
        [record["text"] for record in records],
        extra if any(extra) else None,
    )


def write_part(data: Dataset, spool: Spool, folder: Path) -> dict[str, Any]:
    """Write the matrices of a part whose documents are in the spool; returns its description."""
    if data.edges is not None:
        raise DataError("edges between documents cannot be prepared: train from the data itself", path=folder)
    place = spool.folder_of(data.documents.ids)
    written = []
    for name in MATRICES:
        matrix = getattr(data, name)
        if matrix is None:
            continue
        written.append(name)
        with writing_flat(place, **row_files(name)) as (indptr, indices, values):
            indptr.add(matrix.indptr)
            indices.add(matrix.indices)
            values.add(matrix.data)
    return {"folder": place.name, "documents": len(data), "matrices": written}


def read_part(description: Mapping[str, Any], folder: Path, labels: LabelSet) -> Dataset:
    """The part of a description, its texts mapped from files."""
    place = folder / description["folder"]
    size = int(description["documents"])
    documents = Documents(*mapped_columns(place, size))
    matrices = {name: mapped_rows(place, len(labels), name) for name in description["matrices"]}
    for name, matrix in matrices.items():
        if matrix.nnz and int(np.max(matrix.indices)) >= len(labels):
            raise DataError(f"{name} names labels that are not there: prepare the data again", path=place)
    rest: dict[str, Any] = {**matrices}
    return Dataset(documents, labels, **rest)


def write_rows(rows: Mapping[str, np.ndarray], folder: Path) -> None:
    """Write which documents of the training part each part has."""
    for name, numbers in rows.items():
        with writing_flat(folder, **{f"{name}.documents": INT64}) as (writer,):
            writer.add(numbers)


def read_rows(folder: Path) -> dict[str, np.ndarray]:
    """What ``write_rows`` wrote, of those that are there."""
    paths = {name: folder / f"{name}.documents" for name in ("train", "valid")}
    return {name: mapped(path, INT64) for name, path in paths.items() if path.exists()}
