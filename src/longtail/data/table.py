"""Tables: CSV, TSV and Parquet with named columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from longtail.data.cells import cell_records, column_roles
from longtail.data.csv_rows import csv_errors, csv_reader
from longtail.data.format import Files, Format
from longtail.data.lines import bare_name, first_lines
from longtail.data.options import ReadOptions
from longtail.data.parquet_rows import parquet_rows
from longtail.data.parts import Parts, part_files
from longtail.data.records import Batch, Placed, Report, batches, fail
from longtail.data.roles import find_roles
from longtail.data.row_folder import read_rows
from longtail.data.understood import Understood
from longtail.data.vocabulary import folder_labels
from longtail.errors import DataError
from longtail.label_cells import NONE, SeparatorScan

_TEXT_ENDINGS = (".csv", ".tsv", ".tab")
_ENDINGS = (*_TEXT_ENDINGS, ".parquet")
DELIMITERS = ",;\t|"
"""What may stand between the cells of a row; the first counts where several are equally frequent in the header."""


def read(files: Files, folder: Path | None, options: ReadOptions, report: Report) -> Parts:
    """Read these parts, over the vocabulary that the folder may have."""
    labels, labels_path = folder_labels(folder, options, report, besides=files.values())
    try:
        options = replace(options, label_separator=separator_in(files.values(), options))
    except DataError as error:
        report(error)
        options = replace(options, label_separator=NONE)
    return read_rows(
        files,
        lambda path: records(path, options, report),
        report,
        labels=labels,
        labels_path=labels_path,
        understood=lambda path: understood(path, options),
        encoding=options.encoding,
    )


def records(path: Path, options: ReadOptions, report: Report = fail) -> Iterator[Placed]:
    """The records of one file, by the label separator of the options."""
    try:
        rows = _rows(path, options, report)
        line, header = next(rows, (1, []))
        if not header:
            return
        number = line
        names = [str(name) for name in header]
        try:
            roles = column_roles(names, options)
            for number, record in cell_records(names, roles, rows, options.label_separator):
                yield number, record
        except ValueError as error:
            raise DataError(str(error), path=path, line=number) from None
    except DataError as error:
        report(error)


def stream(path: Path, options: ReadOptions, size: int) -> Iterator[Batch]:
    """The documents of one file, some at a time."""
    separator = separator_in([path], options) if options.with_labels else None
    return batches(records(path, replace(options, label_separator=separator)), size)


def separator_in(paths: Iterable[Path], options: ReadOptions) -> str | None:
    """What separates the labels in the cells of all these files: that of the options, or what all rows say."""
    if options.label_separator is not None or not options.with_labels:
        return options.label_separator
    scan = SeparatorScan()
    for path in paths:
        rows = _rows(path, options, lambda problem: None)
        try:
            line: int | None
            line, header = next(rows, (1, []))
            names = [str(name) for name in header]
            column = find_roles(names, options).labels
            line = None  # what separates labels is a matter of all rows
            if column is not None:
                at = names.index(column)
                scan.add_all(row[at] for _, row in rows)
            scan.separator(options.trained_separator)
        except DataError:
            # Reading the records meets it again, and reports it.
            continue
        except ValueError as error:
            raise DataError(str(error), path=path, line=line) from None
    return scan.separator(options.trained_separator)


def understood(path: Path, options: ReadOptions) -> Understood:
    """How this file is read; a header that cannot be read has no columns."""
    plain = Understood(path=str(path), format="table", encoding=options.encoding)
    try:
        _, header = next(_rows(path, options, lambda problem: None), (1, []))
        roles = column_roles([str(name) for name in header], options)
    except (DataError, ValueError):
        return plain
    separator = options.label_separator if roles.labels is not None else None
    return replace(
        plain,
        id=roles.id,
        title=roles.title,
        texts=roles.texts,
        labels=roles.labels,
        separator=separator,
        others=roles.others,
    )


def describe(path: Path, options: ReadOptions) -> Understood:
    """How this file is read; raises what is wrong with its header."""
    found = _rows(path, options, fail)
    line, header = next(found, (1, []))
    if header:
        try:
            column_roles([str(name) for name in header], options)
        except ValueError as error:
            raise DataError(str(error), path=path, line=line) from None
    return understood(path, options)


def _rows(path: Path, options: ReadOptions, report: Report) -> Iterator[tuple[int, Sequence[Any]]]:
    return (
        parquet_rows(path)
        if bare_name(path).endswith(".parquet")
        else _csv_rows(path, options.encoding, report)
    )


def _csv_rows(path: Path, encoding: str, report: Report) -> Iterator[tuple[int, Sequence[Any]]]:
    """The header and the rows, each with its line; a row of another length than the header is an error."""
    reader = csv_reader(path, encoding, _delimiter(path))
    columns = 0
    with csv_errors(path, reader):
        for row in reader:
            if not row:
                continue
            columns = columns or len(row)
            if len(row) == columns:
                yield reader.line_num, row
            else:
                problem = f"there are {len(row)} fields, but {columns} columns in the header"
                report(DataError(problem, path=path, line=reader.line_num))


def _delimiter(path: Path) -> str:
    if bare_name(path).endswith((".tsv", ".tab")):
        return "\t"
    header = "".join(first_lines(path, 1))
    return max(DELIMITERS, key=header.count)


def _files(folder: Path) -> dict[str, Path]:
    return part_files(folder, _ENDINGS)


def _fits_file(path: Path) -> bool:
    return bare_name(path).endswith(_ENDINGS)


FORMAT = Format(
    name="table",
    shape="train.csv, valid.csv, test.csv (or .tsv, .parquet) with named columns for the text and the labels",
    files=_files,
    fits_file=_fits_file,
    read=read,
    stream=stream,
    describe=describe,
    joins_parts=True,
)
