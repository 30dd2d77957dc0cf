"""Reading shared by all formats of one document a row: files by part, one growing set of labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from longtail.data.pair_files import read_filter
from longtail.data.parts import Part, Parts, find_file, part_of_name
from longtail.data.records import Columns, Placed, Report, collect
from longtail.types import Dataset, LabelSet

NO_LABELS = LabelSet([], [])


def read_rows(
    files: Mapping[str, Path],
    records: Callable[[Path], Iterator[Placed]],
    report: Report,
    *,
    labels: LabelSet | None = None,
    labels_path: Path | None = None,
) -> Parts:
    """Read the file of each part; labels keep the order of ``labels``, then of their first appearance."""
    listed = labels if labels is not None else NO_LABELS
    index = dict(listed.index)
    columns = {part: collect(records(path), index) for part, path in files.items()}
    every = listed.extended(index)
    parts = {part: _part(files[part], found, every, report) for part, found in columns.items()}
    return Parts(every, len(labels) if labels is not None else None, parts, labels_path)


def _part(path: Path, found: Columns, labels: LabelSet, report: Report) -> Part:
    data = Dataset(found.documents, labels, found.matrix(len(labels)))
    name = part_of_name(path)
    filters = None if name is None else find_file(path.parent, [f"filter_{name}.tsv"])
    if filters is None:
        return Part(data, path, found.lines, numbered=found.numbered)
    rows = {id_: row for row, id_ in reversed(list(enumerate(found.documents.ids)))}
    filtered, unknown = read_filter(filters, rows, labels.index, data.Y.shape, report)
    kept = Dataset(data.documents, labels, data.Y, filtered)
    return Part(kept, path, found.lines, unknown, found.numbered)
