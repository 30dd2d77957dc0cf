"""PECOS text lines: ``0,2<TAB>text`` or, weighted, ``0::0.1,2::0.9<TAB>text``, labels in output-items.txt."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from longtail.data.format import Files, Format
from longtail.data.lines import bare_name, byte_lines, first_lines
from longtail.data.matrix_folder import (
    LABEL_NAMES,
    with_numbered_filters,
    write_label_names,
    write_numbered_filter,
)
from longtail.data.options import ReadOptions
from longtail.data.parts import PARTS, STEMS, Parts, find_file
from longtail.data.pecos import ITEMS, item_labels, one_line, write_items
from longtail.data.records import Batch, Placed, Record, Report, batches, fail, parsed
from longtail.data.row_folder import read_rows
from longtail.data.xmc_raw import checked_weights, label_name
from longtail.errors import UsageError
from longtail.types import Dataset, LabelSet

_LINE = re.compile(r"([0-9]+(::[^,\t]*)?(,[0-9]+(::[^,\t]*)?)*)?\t")
_WEIGHT = "::"


def read(files: Files, folder: Path | None, options: ReadOptions, report: Report) -> Parts:
    """Read these parts; the numbers of labels are lines of output-items.txt."""
    labels, labels_path = _labels(folder or next(iter(files.values())).parent, options.encoding)
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
    return parsed(byte_lines(path, options.encoding), record_parser(names), path, report)


def stream(path: Path, options: ReadOptions, size: int) -> Iterator[Batch]:
    """The documents of one file, some at a time."""
    labels, _ = _labels(path.parent, options.encoding)
    return batches(records(path, None if labels is None else labels.ids, options), size)


def record_parser(names: Sequence[str] | None) -> Callable[[bytes], Record]:
    """A function from a line to its record."""

    def parse(line: bytes) -> Record:
        targets, tab, text = line.decode("utf-8").partition("\t")
        if not tab:
            raise ValueError("expected label numbers as 0,2 then a tab and the text")
        pairs = [target.partition(_WEIGHT) for target in targets.split(",") if target.strip()]
        labels = [label_name(_number(number), names) for number, _, _ in pairs]
        weights = [_weight(weight) if mark else 1.0 for _, mark, weight in pairs]
        return Record(None, "", text, labels, checked_weights(weights, len(labels)))

    return parse


def write(parts: Mapping[str, Dataset], folder: Path) -> None:
    """Write one file of lines a part, the labels' texts, and their names; line ends in texts become spaces."""
    labels = next(iter(parts.values())).labels
    for part, data in parts.items():
        texts = data.documents.joined()
        if not any(texts) and data.documents.features is not None:
            raise UsageError("the documents are feature rows without text: write xmc, xmc-split or pecos")
        with open(folder / f"{part}.txt", "w", encoding="utf-8", newline="\n") as handle:
            handle.writelines(_lines(data, texts))
        write_numbered_filter(data, folder / f"filter_labels_{part}.txt")
    write_items(labels, folder / ITEMS[0])
    write_label_names(labels, folder / LABEL_NAMES)


def _lines(data: Dataset, texts: Sequence[str]) -> Iterator[str]:
    weighted = bool((data.Y.data != 1).any())
    columns, values, indptr = (
        data.Y.indices.tolist(),
        data.Y.data.astype(str).tolist(),
        data.Y.indptr.tolist(),
    )
    for row, text in enumerate(texts):
        cells = range(indptr[row], indptr[row + 1])
        targets = [f"{columns[i]}{_WEIGHT}{values[i]}" if weighted else str(columns[i]) for i in cells]
        yield f"{','.join(targets)}\t{one_line(text)}\n"


def _labels(folder: Path, encoding: str) -> tuple[LabelSet | None, Path | None]:
    if find_file(folder, ITEMS) is None:
        return None, None
    return item_labels(folder, None, encoding=encoding)


def _number(field: str) -> int:
    try:
        return int(field)
    except ValueError:
        raise ValueError(f"expected the number of a label, found {field.strip()[:40]!r}") from None


def _weight(field: str) -> float:
    try:
        return float(field)
    except ValueError:
        raise ValueError(f"expected a label's weight, found {field.strip()[:40]!r}") from None


def _files(folder: Path) -> dict[str, Path]:
    found = {part: find_file(folder, _names(part)) for part in PARTS}
    return {part: path for part, path in found.items() if path is not None}


def _names(part: str) -> list[str]:
    return [f"{stem}{ending}" for stem in STEMS[part] for ending in (".txt", "-data.txt")]


def _fits_file(path: Path) -> bool:
    start = first_lines(path, 1)
    return bare_name(path).endswith((".txt", ".tsv")) and bool(start) and _LINE.match(start[0]) is not None


FORMAT = Format(
    name="text2text",
    shape="train.txt, test.txt, output-items.txt: 0,2 or 0::0.1,2::0.9, a tab and the text a line",
    files=_files,
    fits_file=_fits_file,
    read=read,
    stream=stream,
    write=write,
    keeps_weights=True,
)
