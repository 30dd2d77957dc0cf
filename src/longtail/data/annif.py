"""Annif's document corpora: TSV ``text<TAB><uri> <uri>``, CSV ``text,subject_uris``; the vocabulary beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from longtail.data import table
from longtail.data.format import Files, Format
from longtail.data.lines import bare_name, byte_lines, first_lines
from longtail.data.options import ReadOptions
from longtail.data.parts import Parts, part_files
from longtail.data.records import Batch, Placed, Record, Report, batches, fail, parsed
from longtail.data.row_folder import read_rows
from longtail.data.vocabulary import folder_labels

_SUBJECTS = "subject_uris"
_URI = re.compile(r"<([^<>]+)>")
_ONLY_URIS = re.compile(r"(\s*<[^<>\s]+>)*\s*")


def read(files: Files, folder: Path | None, options: ReadOptions, report: Report) -> Parts:
    """Read these parts, over the vocabulary that the folder may have."""
    labels, labels_path = folder_labels(folder, options, report, besides=files.values())
    return read_rows(
        files,
        lambda path: records(path, options, report),
        report,
        labels=labels,
        labels_path=labels_path,
        encoding=options.encoding,
    )


def records(path: Path, options: ReadOptions, report: Report = fail) -> Iterator[Placed]:
    """The records of one file."""
    if bare_name(path).endswith(".csv"):
        subjects = replace(options, label_column=options.label_column or _SUBJECTS, label_separator=" ")
        if not options.with_labels:
            subjects = options
        return table.records(path, subjects, report)
    return parsed(byte_lines(path, options.encoding), parse, path, report)


def stream(path: Path, options: ReadOptions, size: int) -> Iterator[Batch]:
    """The documents of one file, some at a time."""
    return batches(records(path, options), size)


def parse(line: bytes) -> Record:
    """The record of one line of TSV; the text itself may have tabs, as the subjects come last."""
    text, tab, subjects = line.decode("utf-8").rpartition("\t")
    if not tab or not _ONLY_URIS.fullmatch(subjects):
        raise ValueError("expected a text, a tab and subjects as <address> <address>")
    return Record(text=text, labels=_URI.findall(subjects))


def _files(folder: Path) -> dict[str, Path]:
    return part_files(folder, (".tsv", ".csv"))


def _fits_file(path: Path) -> bool:
    start = first_lines(path, 1)
    if not start:
        return False
    if bare_name(path).endswith(".csv"):
        return _SUBJECTS in start[0].split(",")
    return bare_name(path).endswith((".tsv", ".txt")) and is_corpus_line(start[0])


def is_corpus_line(line: str) -> bool:
    """Whether a line is a text, a tab and subjects."""
    _, tab, subjects = line.rpartition("\t")
    return bool(tab and subjects) and _ONLY_URIS.fullmatch(subjects) is not None


FORMAT = Format(
    name="annif",
    shape="train.tsv with a text, a tab and <address> <address> a line, or train.csv with text,subject_uris",
    files=_files,
    fits_file=_fits_file,
    read=read,
    stream=stream,
    joins_parts=True,
)
