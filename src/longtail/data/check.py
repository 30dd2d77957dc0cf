"""Check a data set before training: what it has, what is missing, what would spoil the metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from longtail.data.duplicates import EXAMPLES, Duplicates, Finding, PartDuplicates, find_duplicates
from longtail.data.folder_files import document_files, files_not_read
from longtail.data.misspelled import label_doubts, misplaced_texts
from longtail.data.options import DEFAULTS, ReadOptions
from longtail.data.parts import Part, Parts
from longtail.data.reading import read_parts
from longtail.errors import DataError

TAIL_BINS = ((0, 0), (1, 1), (2, 2), (3, 5), (6, 20), (21, 100), (101, None))
_MOST_PROBLEMS = 100
_SAMPLES = 3
_LONGEST = 200
_WIDEST = 32


@dataclass(frozen=True, slots=True)
class PartCheck:
    """What one part holds."""

    path: str
    documents: int
    assignments: int
    without_text: int
    without_labels: int
    duplicate_ids: Finding
    duplicate_texts: Finding
    near_duplicates: Finding
    filter_pairs: int
    unknown_filter_pairs: int
    revealed: int


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of a check, as data; ``lines()`` is for people."""

    path: str
    format: str
    parts: Mapping[str, PartCheck]
    labels: int
    labels_without_text: int
    labels_without_documents: int
    unknown_labels: Finding
    tail: Mapping[str, int]
    leaks: Mapping[str, Finding]
    near_leaks: Mapping[str, Finding]
    shared_ids: float
    edges: int = 0
    unknown_edges: Finding = field(default_factory=Finding)
    problems: tuple[str, ...] = field(default=())
    understood: Mapping[str, str] = field(default_factory=dict)
    samples: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the data can be read as they are."""
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """The report as nested dicts and lists, ready for JSON."""
        return {**asdict(self), "ok": self.ok}

    def lines(self) -> list[str]:
        """The report as lines of text; what is as it should be is left out."""
        return list(_lines(self))


def check(path: str | Path, *, format: str | None = None, options: ReadOptions = DEFAULTS) -> CheckReport:
    """Read everything and count what a user should know; lines that cannot be read become problems."""
    problems: list[str] = []

    def note(problem: DataError) -> None:
        if len(problems) < _MOST_PROBLEMS and str(problem) not in problems:
            problems.append(str(problem))

    every = document_files(Path(path), format)
    name = " and ".join(files.format.name for files in every)
    try:
        found = read_parts(path, format=format, options=options, report=note)
    except DataError as error:
        note(error)
        found = None
    unread = []
    if Path(path).is_dir() and all(files.format.joins_parts for files in every):
        unread = files_not_read(Path(path), [file for files in every for file in files.parts.values()])
    return _report(str(path), name, found, problems, unread)


def _report(
    path: str, name: str, found: Parts | None, problems: list[str], unread: Sequence[str]
) -> CheckReport:
    if found is None:
        nothing = Finding()
        return CheckReport(
            path, name, {}, 0, 0, 0, nothing, _tail(np.empty(0, int)), {}, {}, 0.0, problems=tuple(problems)
        )
    repeated = find_duplicates(found.parts)
    checks = {part: _check_part(one, repeated.parts[part]) for part, one in found.parts.items()}
    counts = sum(
        (one.data.label_counts for one in found.parts.values()), np.zeros(len(found.labels), np.int64)
    )
    train = found.parts.get("train")
    for part, one in found.parts.items():
        if part != "train" and not len(one.data):
            problems.append(str(DataError("there are no documents in it", path=one.path)))
        problems.extend(_nothing(one, checks[part]))
    return CheckReport(
        path,
        name,
        checks,
        len(found.labels),
        sum(not text for text in found.labels.texts),
        int((counts == 0).sum()),
        _unknown_labels(found),
        _tail(counts if train is None else train.data.label_counts),
        repeated.shared,
        repeated.nearly_shared,
        _shared_ids(found),
        *_edges(found),
        tuple(problems),
        {part: one.understood.line() for part, one in found.parts.items() if one.understood is not None},
        _samples(found),
        tuple(_warnings(found, repeated, unread)),
    )


def _nothing(part: Part, counts: PartCheck) -> Iterator[str]:
    """What a part lacks altogether: texts, labels."""
    if not counts.documents:
        return
    if counts.without_text == counts.documents:
        yield str(DataError("no document has a text: name its column with --text-column", path=part.path))
    if not counts.assignments:
        yield str(
            DataError(
                "no document has a label: name the column of labels with --label-column", path=part.path
            )
        )


def _warnings(found: Parts, repeated: Duplicates, unread: Sequence[str]) -> Iterator[str]:
    if unread:
        yield f"{', '.join(unread)} not read: the files of parts are called train, valid and test"
    yield from repeated.warnings()
    parts = [part.data for part in found.parts.values()]
    if parts and (doubt := misplaced_texts(*parts)) is not None:
        yield doubt if found.labels_path is None else f"{found.labels_path}: {doubt}"
    yield from label_doubts(found.labels.ids)


def _samples(found: Parts) -> tuple[Mapping[str, Any], ...]:
    """The first three documents of the first part with their labels."""
    part = next(iter(found.parts.values()), None)
    if part is None:
        return ()
    data = part.data
    return tuple(
        {
            "id": data.documents.ids[row],
            "title": data.documents.titles[row][:_LONGEST],
            "text": data.documents.texts[row][:_LONGEST],
            "labels": [
                data.labels.ids[column]
                for column in data.Y.indices[data.Y.indptr[row] : data.Y.indptr[row + 1]]
            ],
        }
        for row in range(min(_SAMPLES, len(data)))
    )


def _sample_lines(samples: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    rows = [
        (sample["id"], sample["title"], sample["text"], " | ".join(sample["labels"][:EXAMPLES]))
        for sample in samples
    ]
    cells = [[_cell(value) for value in row] for row in [("id", "title", "text", "labels"), *rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(4)]
    for row in cells:
        yield f"  {'  '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))}".rstrip()


def _cell(value: str) -> str:
    plain = " ".join(value.split())
    return plain if len(plain) <= _WIDEST else f"{plain[: _WIDEST - 3]}..."


def _check_part(part: Part, repeated: PartDuplicates) -> PartCheck:
    data = part.data
    has_features = data.documents.features is not None
    return PartCheck(
        str(part.path),
        len(data),
        int(data.Y.nnz),
        0 if has_features else sum(not text.strip() for text in data.documents.joined()),
        int((np.diff(data.Y.indptr) == 0).sum()),
        repeated.ids,
        repeated.texts,
        repeated.near,
        0 if data.filtered is None else int(data.filtered.nnz),
        part.unknown_filters,
        0 if data.revealed is None else int(data.revealed.nnz),
    )


def _unknown_labels(found: Parts) -> Finding:
    """Labels of documents, revealed or not, that the file of labels does not have."""
    if found.listed is None or found.listed == len(found.labels):
        return Finding()
    places: dict[int, str] = {}
    for part in found.parts.values():
        for matrix, how in ((part.data.Y, ""), (part.data.revealed, " (revealed)")):
            if matrix is None:
                continue
            columns, entries = np.unique(matrix.indices, return_index=True)
            rows = np.searchsorted(matrix.indptr, entries, side="right") - 1
            for column, row in zip(columns, rows, strict=True):
                if column >= found.listed and len(places) < EXAMPLES:
                    place = f"{found.labels.ids[column]!r} in {part.path.name}, line {part.lines[row]}{how}"
                    places.setdefault(int(column), place)
    return Finding(len(found.labels) - found.listed, tuple(places.values()))


def _edges(found: Parts) -> tuple[int, Finding]:
    """How many edges there are, and those with an end that is neither a document nor a label."""
    edges = next((part.data.edges for part in found.parts.values()), None)
    if edges is None:
        return 0, Finding()
    known = {id_ for part in found.parts.values() for id_ in part.data.documents.ids}
    known.update(found.labels.ids)
    unknown = [edge for edge in zip(edges.sources, edges.targets, strict=True) if not known.issuperset(edge)]
    examples = tuple(f"{source!r} and {target!r}" for source, target in unknown[:EXAMPLES])
    return len(edges.weights), Finding(len(unknown), examples)


def _shared_ids(found: Parts) -> float:
    """The share of labels that are documents, too."""
    if not len(found.labels) or any(part.numbered for part in found.parts.values()):
        return 0.0
    documents = {id_ for part in found.parts.values() for id_ in part.data.documents.ids}
    return sum(label in documents for label in found.labels.ids) / len(found.labels)


def _tail(counts: np.ndarray) -> dict[str, int]:
    names = {
        (low, high): f">{low - 1}" if high is None else f"{low}" if low == high else f"{low}-{high}"
        for low, high in TAIL_BINS
    }
    return {
        names[low, high]: int(((counts >= low) & (counts <= (np.inf if high is None else high))).sum())
        for low, high in TAIL_BINS
    }


def _lines(report: CheckReport) -> Iterator[str]:
    yield f"{report.path}: format {report.format}"
    yield from report.understood.values()
    if report.samples:
        yield from _sample_lines(report.samples)
    for name, part in report.parts.items():
        yield f"{name}: {part.documents:,} documents, {part.assignments:,} label assignments ({part.path})"
        yield from _counted(part.without_text, "documents without text")
        yield from _counted(part.without_labels, "documents without labels")
        yield from _found(part.duplicate_ids, "documents with the id of an earlier one")
        yield from _found(part.duplicate_texts, "documents with the text of an earlier one")
        yield from _found(part.near_duplicates, "documents with nearly the text of an earlier one")
        yield from _counted(part.filter_pairs, "filtered pairs")
        yield from _counted(part.unknown_filter_pairs, "filtered pairs of unknown documents or labels")
        yield from _counted(part.revealed, "revealed labels")
    yield f"labels: {report.labels:,}"
    yield from _counted(report.labels_without_text, "labels without text")
    yield from _counted(report.labels_without_documents, "labels without documents")
    yield from _found(report.unknown_labels, "labels that are not in the file of labels")
    yield f"  {report.shared_ids:.1%} of the labels have the id of a document"
    share = ", ".join(f"{name}: {count:,}" for name, count in report.tail.items())
    yield f"labels by documents in {'train' if 'train' in report.parts else 'all parts'}: {share}"
    if report.edges:
        yield f"edges: {report.edges:,}"
        yield from _found(report.unknown_edges, "edges of unknown documents or labels")
    for pair, leak in report.leaks.items():
        yield from _found(leak, f"documents are in both {pair}")
    for pair, leak in report.near_leaks.items():
        yield from _found(leak, f"documents are nearly in both {pair}")
    yield from (f"warning: {warning}" for warning in report.warnings)
    yield f"problems: {len(report.problems)}" if report.problems else "no problems"
    yield from (f"  {problem}" for problem in report.problems)


def _counted(count: int, what: str) -> Iterator[str]:
    if count:
        yield f"  {count:,} {what}"


def _found(finding: Finding, what: str) -> Iterator[str]:
    yield from _counted(finding.count, what)
    yield from (f"    {example}" for example in finding.examples)


__all__ = ["CheckReport", "Finding", "PartCheck", "check"]
