"""The XMC repository's single-file format: a header ``N D L``, then ``label,label feature:value ...`` a line.

Either train and test are files of their own, or one data file comes with files of row numbers for ten splits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from longtail.data.format import Files, Format
from longtail.data.lines import bare_name, first_lines, text_lines
from longtail.data.matrix_folder import (
    LABEL_NAMES,
    column_labels,
    features_of,
    matrix_batches,
    numbered_part,
    write_label_names,
    write_numbered_filter,
)
from longtail.data.options import ReadOptions
from longtail.data.parts import PARTS, STEMS, Part, Parts
from longtail.data.records import Batch, Report
from longtail.data.sparse_text import read_shape, read_sparse, sparse_blocks, write_sparse
from longtail.errors import DataError
from longtail.types import Dataset

_SPLIT_STEMS = {"train": ("train_split", "trsplit"), "test": ("test_split", "tstsplit", "tssplit")}


def read(files: Files, folder: Path | None, options: ReadOptions, report: Report) -> Parts:
    """Read these parts."""
    found = {path: read_sparse(path, has_labels=True) for path in dict.fromkeys(files.values())}
    shapes = {(rows.entries.shape[1], rows.labels.shape[1]): path for path, rows in found.items()}
    if len(shapes) > 1:
        problem = "the headers of the parts differ in their features or labels"
        raise DataError(problem, path=list(shapes.values())[-1], line=1)
    ((_, n_labels),) = shapes
    home = folder or next(iter(found)).parent
    named = sum(rows.labels.nnz for rows in found.values())
    labels, labels_path = column_labels(home, n_labels, report, entries=named, encoding=options.encoding)
    parts = {}
    for name, path in files.items():
        part = numbered_part(path, *found[path], labels)
        split = None if folder is None else _named_file(folder, _SPLIT_STEMS.get(name, ()))
        parts[name] = (
            part if split is None else _chosen(part, _row_numbers(split, options.split, len(part.data)))
        )
    return Parts(labels, None if labels_path is None else n_labels, parts, labels_path)


def stream(path: Path, options: ReadOptions, size: int) -> Iterator[Batch]:
    """The documents of one file, some at a time."""
    start = first_lines(path, 1)
    shape = read_shape(start[0]) if start else None
    # A label takes two bytes at least.
    could_name = path.stat().st_size // 2
    n_labels = shape[2] if shape and len(shape) == 3 else 0
    labels, _ = column_labels(path.parent, n_labels, entries=could_name, encoding=options.encoding)
    yield from matrix_batches(sparse_blocks(path, has_labels=True, block_bytes=1 << 22), labels.ids, size)


def write(parts: Mapping[str, Dataset], folder: Path) -> None:
    """Write one file a part, and the labels' names."""
    for part, data in parts.items():
        write_sparse(folder / f"{part}.txt", features_of(data, "xmc"), data.Y)
        write_numbered_filter(data, folder / f"filter_labels_{part}.txt")
    write_label_names(next(iter(parts.values())).labels, folder / LABEL_NAMES)


def is_sparse_file(path: Path, numbers: int) -> bool:
    """Whether the file starts with a header of so many numbers and goes on as a sparse file does."""
    lines = first_lines(path, 2)
    shape = read_shape(lines[0]) if lines else None
    if shape is None or len(shape) != numbers:
        return False
    return len(lines) == 1 or all(mark.isdigit() or mark in ",:.+-eE \tnaifNAIF" for mark in lines[1])


def _files(folder: Path) -> dict[str, Path]:
    data = _named_file(folder, ("data",))
    if data is not None:
        splits = [part for part, stems in _SPLIT_STEMS.items() if _named_file(folder, stems) is not None]
        return dict.fromkeys(splits or ["train"], data)
    found = {part: _named_file(folder, STEMS[part]) for part in PARTS}
    return {part: path for part, path in found.items() if path is not None}


def _named_file(folder: Path, stems: tuple[str, ...]) -> Path | None:
    """The .txt file named so, or so behind an underscore as in bibtex_data.txt, in any case."""
    texts = [path for path in sorted(folder.iterdir()) if path.is_file() and bare_name(path).endswith(".txt")]
    stem_of = {path: bare_name(path).removesuffix(".txt") for path in texts}
    exact = [path for path, own in stem_of.items() if own in stems]
    there = exact or [
        path
        for path, own in stem_of.items()
        if own.endswith(tuple(f"_{stem}" for stem in stems)) and not own.startswith("filter_")
    ]
    if len(there) > 1:
        raise DataError(f"both {there[0].name} and {there[1].name} are there; keep one of them", path=folder)
    return there[0] if there else None


def _row_numbers(path: Path, split: int, n_rows: int) -> np.ndarray:
    """The rows (from 0) of one split, a column of 1-based numbers."""
    rows: list[int] = []
    for number, line in text_lines(path):
        fields = read_shape(line)
        if fields is None and not line.strip():
            continue
        if fields is None or split >= len(fields):
            problem = f"expected row numbers, at least {split + 1} of them, as split {split} is asked for"
            raise DataError(problem, path=path, line=number)
        if not 1 <= fields[split] <= n_rows:
            problem = f"the row number {fields[split]} is not between 1 and the {n_rows} rows of the data"
            raise DataError(problem, path=path, line=number)
        rows.append(fields[split] - 1)
    return np.array(rows, dtype=np.int64)


def _chosen(part: Part, rows: np.ndarray) -> Part:
    # Documents keep their row number in the data file as their id, so that splits can be compared.
    return Part(part.data.take(rows), part.path, part.lines[rows], numbered=True)


def _fits_file(path: Path) -> bool:
    return bare_name(path).endswith(".txt") and is_sparse_file(path, 3)


FORMAT = Format(
    name="xmc",
    shape="train.txt, test.txt (or data.txt with train_split.txt, test_split.txt): a header of the numbers of "
    "documents, features and labels, then 1,4 0:0.5 7:1.0 a line",
    files=_files,
    fits_file=_fits_file,
    read=read,
    stream=stream,
    write=write,
)
