"""Read data of any format: a folder, a part, or a stream of documents."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from longtail.data import plain_text
from longtail.data.formats import format_named, sniff
from longtail.data.json_record import record_parser
from longtail.data.lines import STDIN, byte_lines
from longtail.data.options import DEFAULTS, ReadOptions
from longtail.data.pair_files import EDGES, read_edges
from longtail.data.parts import PARTS, STEMS, Parts, find_file
from longtail.data.records import Batch, Report, batches, fail, parsed
from longtail.errors import DataError, UsageError
from longtail.types import Dataset, LabelSet


def read_folder(
    path: str | Path,
    *,
    format: str | None = None,
    options: ReadOptions = DEFAULTS,
    parts: Sequence[str] = PARTS,
) -> dict[str, Dataset]:
    """The parts that are there, all over one label set; a single file is the part "train".

    Labels are in the order of the file of labels, then of their first appearance in train, valid, test.
    """
    found = read_parts(path, format=format, options=options, parts=parts)
    return {name: part.data for name, part in found.parts.items()}


def read(
    path: str | Path,
    *,
    part: str | None = None,
    labels: LabelSet | None = None,
    format: str | None = None,
    options: ReadOptions = DEFAULTS,
) -> Dataset:
    """One file, or one part of a folder.

    Args:
        path: a file or folder.
        part: which part of the folder; may be left out for a file, or if the folder has only one.
        labels: the labels of a trained model: the data set is over these, and those it has besides behind them.
        format: the format's name, if it is not to be guessed.
        options: columns, separators and the like.
    """
    place = Path(path)
    if part is not None and place.is_file():
        raise UsageError(f"{path} is a file and has no part {part!r}; give the folder, or leave out the part")
    found = read_parts(path, format=format, options=options, parts=PARTS if part is None else (part,))
    if part is None and len(found.parts) > 1:
        names = ", ".join(found.parts)
        raise UsageError(f"{path} has the parts {names}; say which one to read")
    data = next(iter(found.parts.values())).data
    if labels is None:
        return data
    used = [data.labels.ids[column] for column in np.unique(data.Y.indices)]
    return data.relabelled(labels.extended(used))


def stream(
    path: str | Path, *, format: str | None = None, batch_size: int = 8192, options: ReadOptions = DEFAULTS
) -> Iterator[Batch]:
    """Documents and their label ids in batches, with memory for one batch; ``-`` is standard input.

    Standard input is JSONL if it starts with a brace, else one text a line. Documents without an id get their
    row number, from 0.
    """
    if batch_size < 1:
        raise UsageError(f"batch_size must be at least 1, not {batch_size}")
    if str(path) == STDIN:
        return _stream_stdin(format, batch_size, options)
    place = _place(path)
    if place.is_dir():
        raise DataError("is a folder; name the file whose documents are meant", path=place)
    return format_named(format or sniff(place)).stream(place, options, batch_size)


def read_parts(
    path: str | Path,
    *,
    format: str | None = None,
    options: ReadOptions = DEFAULTS,
    parts: Sequence[str] = PARTS,
    report: Report = fail,
) -> Parts:
    """What ``read_folder`` reads, with the place each document came from; problems go to ``report``."""
    unknown = next((part for part in parts if part not in PARTS), None)
    if unknown is not None:
        raise UsageError(f"there is no part {unknown!r}; the parts are {', '.join(PARTS)}")
    place = _place(path)
    chosen = format_named(format or sniff(place))
    if not place.is_dir():
        found = chosen.read({"train": place}, None, options, report)
    else:
        there = chosen.files(place)
        _expect(place, there, parts, chosen.shape)
        found = chosen.read(
            {part: there[part] for part in PARTS if part in parts and part in there}, place, options, report
        )
        found = _with_edges(found, place, report)
    train = found.parts.get("train")
    if train is not None and not len(train.data):
        report(DataError("there are no documents in it", path=train.path))
    return found


def _with_edges(found: Parts, folder: Path, report: Report) -> Parts:
    path = find_file(folder, [EDGES])
    if path is None:
        return found
    edges = read_edges(path, report)
    parts = {name: replace(part, data=replace(part.data, edges=edges)) for name, part in found.parts.items()}
    return replace(found, parts=parts)


def _place(path: str | Path) -> Path:
    # Path("") is the current folder, which an unset variable of a shell script does not mean.
    if not str(path):
        raise UsageError("the name of the data is empty")
    return Path(path)


def _expect(place: Path, there: dict[str, Path], parts: Sequence[str], shape: str) -> None:
    wanted = "train" if "train" in parts else parts[0]
    if wanted in there or (wanted != "train" and any(part in there for part in parts)):
        return
    have = f"it has {', '.join(there)}" if there else f"it should hold {shape}"
    names = " or ".join(STEMS[wanted][:2])
    raise DataError(f"there is no {wanted} part (a file whose name begins with {names}); {have}", path=place)


def _stream_stdin(format: str | None, size: int, options: ReadOptions) -> Iterator[Batch]:
    if format not in (None, "jsonl", "text"):
        raise UsageError(f"standard input can be jsonl or text, not {format}")
    lines = byte_lines(STDIN)
    before: list[tuple[int, bytes]] = []
    for numbered in lines:
        before.append(numbered)
        if not numbered[1].isspace() and numbered[1]:
            break
    is_json = (
        bool(before) and before[-1][1].lstrip().startswith(b"{") if format is None else format == "jsonl"
    )
    every = itertools.chain(before, lines)
    if is_json:
        return batches(parsed(every, record_parser(options), "standard input", fail), size)
    return batches(plain_text.records(every, "standard input"), size)
