"""Reading shared by all formats of one document a row: files by part, one growing set of labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from longtail.data.encoding import UTF_8
from longtail.data.pair_files import read_filter
from longtail.data.parts import Part, Parts, find_file, part_of_name
from longtail.data.records import Block, Columns, Placed, Report, collect_blocks, grouped, growing
from longtail.data.understood import Understood
from longtail.types import Dataset, LabelSet

NO_LABELS = LabelSet([], [])


def read_rows(
    files: Mapping[str, Path],
    records: Callable[[Path], Iterator[Placed]],
    report: Report,
    *,
    labels: LabelSet | None = None,
    labels_path: Path | None = None,
    understood: Callable[[Path], Understood] | None = None,
    encoding: str = UTF_8,
) -> Parts:
    """Read the file of each part, record by record."""
    return read_blocks(
        files,
        lambda path: grouped(records(path)),
        report,
        labels=labels,
        labels_path=labels_path,
        understood=understood,
        encoding=encoding,
    )


def read_blocks(
    files: Mapping[str, Path],
    blocks: Callable[[Path], Iterator[Block]],
    report: Report,
    *,
    labels: LabelSet | None = None,
    labels_path: Path | None = None,
    understood: Callable[[Path], Understood] | None = None,
    encoding: str = UTF_8,
) -> Parts:
    """Read the file of each part; labels keep the order of ``labels``, then of their first appearance."""
    listed = labels if labels is not None else NO_LABELS
    index = growing(listed.index)
    columns = {part: collect_blocks(blocks(path), index) for part, path in files.items()}
    for found in columns.values():
        # Behind all labels of documents, so that these keep their columns whatever is revealed.
        for name in [] if found.revealed is None else found.revealed.names:
            index[name]
    every = _with_new(listed, dict(index))
    parts = {part: _part(files[part], found, every, report, encoding) for part, found in columns.items()}
    if understood is not None:
        label_file = None if labels_path is None else str(labels_path)
        parts = {
            name: replace(part, understood=replace(understood(part.path), label_file=label_file))
            for name, part in parts.items()
        }
    return Parts(every, len(labels) if labels is not None else None, parts, labels_path)


def _with_new(listed: LabelSet, index: dict[str, int]) -> LabelSet:
    # As LabelSet.extended, which would look each of them up once more and make the index anew.
    new = len(index) - len(listed)
    if not new:
        return listed
    extra = None if listed.extra is None else [*listed.extra, *({} for _ in range(new))]
    return LabelSet(list(index), [*listed.texts, *[""] * new], extra, index=index)


def _part(path: Path, found: Columns, labels: LabelSet, report: Report, encoding: str) -> Part:
    revealed = None if found.revealed is None else found.revealed.matrix(labels.index)
    data = Dataset(found.documents, labels, found.matrix(len(labels)), revealed=revealed)
    name = part_of_name(path)
    filters = None if name is None else find_file(path.parent, [f"filter_{name}.tsv"])
    if filters is None:
        return Part(data, path, found.lines, numbered=found.numbered)
    rows = {id_: row for row, id_ in reversed(list(enumerate(found.documents.ids)))}
    filtered, unknown = read_filter(filters, rows, labels.index, data.Y.shape, report, encoding)
    return Part(replace(data, filtered=filtered), path, found.lines, unknown, found.numbered)
