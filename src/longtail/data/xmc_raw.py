"""The XMC repository's raw text: trn.json, tst.json, lbl.json with uid, title, content, target_ind a line."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from longtail.data.format import Files, Format
from longtail.data.json_record import as_text, json_object, take
from longtail.data.label_file import read_jsonl_labels
from longtail.data.lines import bare_name, byte_lines, first_lines
from longtail.data.matrix_folder import with_numbered_filters
from longtail.data.options import ReadOptions
from longtail.data.parts import Parts, find_file, part_files
from longtail.data.records import NOTHING, Batch, Placed, Record, Report, batches, fail, parsed
from longtail.data.row_folder import read_rows

LABELS = "lbl.json"
_TARGET = "target_ind"
_NAMES = ("trn.json", "tst.json", "val.json")


def read(files: Files, folder: Path | None, options: ReadOptions, report: Report) -> Parts:
    """Read these parts; the numbers of labels are lines of lbl.json."""
    labels_path = find_file(folder or next(iter(files.values())).parent, [LABELS])
    labels = (
        None if labels_path is None else read_jsonl_labels(labels_path, report, encoding=options.encoding)
    )
    names = None if labels is None else labels.ids
    found = read_rows(
        files,
        lambda path: records(path, names, options, report),
        report,
        labels=labels,
        labels_path=labels_path,
    )
    return with_numbered_filters(found)


def records(
    path: Path, names: Sequence[str] | None, options: ReadOptions, report: Report = fail
) -> Iterator[Placed]:
    """The records of one file; without names, labels are called by their number."""
    return parsed(byte_lines(path, options.encoding), record_parser(names, options), path, report)


def stream(path: Path, options: ReadOptions, size: int) -> Iterator[Batch]:
    """The documents of one file, some at a time."""
    labels_path = find_file(path.parent, [LABELS])
    names = None if labels_path is None else read_jsonl_labels(labels_path, encoding=options.encoding).ids
    return batches(records(path, names, options), size)


def record_parser(names: Sequence[str] | None, options: ReadOptions) -> Callable[[bytes], Record]:
    """A function from a line to its record."""

    def parse(line: bytes) -> Record:
        found = json_object(line)
        id_ = take(found, options.id_names)
        title = as_text(take(found, options.title_names), "the title")
        text = as_text(take(found, options.text_names), "the text")
        numbers, weights = found.pop(_TARGET, None) or [], found.pop("target_rel", None)
        labels = [label_name(number, names) for number in numbers]
        own_id = None if id_ is None else as_text(id_, "the id")
        return Record(own_id, title, text, labels, checked_weights(weights, len(labels)), found or NOTHING)

    return parse


def label_name(number: Any, names: Sequence[str] | None) -> str:
    """The id of the label in this column."""
    if type(number) is not int or number < 0:
        raise ValueError(f"a label must be a whole number from 0, not {number!r}")
    if names is None:
        return str(number)
    if number >= len(names):
        raise ValueError(f"the label {number} is not below the {len(names)} labels of the labels' file")
    return names[number]


def checked_weights(weights: Any, n_labels: int) -> list[float] | None:
    """The weights of a document's labels, None if all are 1."""
    if weights is None or all(weight == 1 for weight in weights):
        return None
    if len(weights) != n_labels:
        raise ValueError(f"there are {n_labels} labels but {len(weights)} weights")
    if not all(type(weight) in (int, float) and math.isfinite(weight) and weight >= 0 for weight in weights):
        raise ValueError("a label's weight must be a finite number from 0")
    return list(weights)


def _files(folder: Path) -> dict[str, Path]:
    return part_files(folder, [".json"])


def _fits_file(path: Path) -> bool:
    if not bare_name(path).endswith((".json", ".jsonl")):
        return False
    if bare_name(path) in _NAMES:
        return True
    start = first_lines(path, 1)
    return bool(start) and has_targets(start[0])


def has_targets(line: str) -> bool:
    """Whether a line is an object with numbers of labels."""
    return line.lstrip().startswith("{") and f'"{_TARGET}"' in line


FORMAT = Format(
    name="xmc-raw",
    shape='trn.json, tst.json, lbl.json with {"uid", "title", "content", "target_ind", "target_rel"} a line',
    files=_files,
    fits_file=_fits_file,
    read=read,
    stream=stream,
)
