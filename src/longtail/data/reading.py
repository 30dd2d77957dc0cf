"""Read data of any format: a folder, a part, or a stream of documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from longtail.data.encoding import UTF_16, UTF_16_MARKS
from longtail.data.folder_files import Files, document_files
from longtail.data.formats import format_named, sniff
from longtail.data.lines import STDIN, opened
from longtail.data.options import DEFAULTS, ReadOptions
from longtail.data.pair_files import EDGES, read_edges
from longtail.data.parts import PARTS, STEMS, Parts, find_file, part_of_name
from longtail.data.records import Batch, Report, fail
from longtail.data.standard_input import is_pipe, pipe_as_file, stream_stdin
from longtail.data.understood import Understood
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
    path: str | Path,
    *,
    format: str | None = None,
    batch_size: int = 8192,
    options: ReadOptions = DEFAULTS,
    note: Callable[[Understood], None] | None = None,
) -> Iterator[Batch]:
    """Documents and their label ids in batches, with memory for one batch; ``-`` is standard input.

    Standard input is JSONL if it starts with a brace, a table if it starts with the names of known columns,
    else one text a line. Documents without an id get their row number, from 0. ``note`` is called with what was
    understood of the file before the first batch is given.
    """
    if batch_size < 1:
        raise UsageError(f"batch_size must be at least 1, not {batch_size}")
    if str(path) == STDIN:
        return stream_stdin(format, batch_size, options, note)
    place = _place(path)
    if place.is_dir():
        raise DataError("is a folder; name the file whose documents are meant", path=place)
    if is_pipe(place):
        return _stream_pipe(place, format, batch_size, options, note)
    chosen = format_named(format or sniff(place))
    plain = Understood(path=str(place), format=chosen.name, has_columns=False, encoding=options.encoding)
    found = plain if chosen.describe is None else chosen.describe(place, options)
    if note is not None:
        note(_with_encoding(found, place))
    return chosen.stream(place, options, batch_size)


def _stream_pipe(
    place: Path,
    format: str | None,
    size: int,
    options: ReadOptions,
    note: Callable[[Understood], None] | None,
) -> Iterator[Batch]:
    """Recognising a format takes the first lines, and a pipe gives them once."""

    def noted(found: Understood) -> None:
        if note is not None:
            note(replace(found, path=str(place)))

    with pipe_as_file(place, format) as copy:
        yield from stream(copy, format=format, batch_size=size, options=options, note=noted)


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
    if is_pipe(place):
        with pipe_as_file(place, format) as copy:
            return read_parts(copy, format=format, options=options, parts=parts, report=report)
    every = document_files(place, format)
    names = {part: file for files in every for part, file in files.parts.items()}
    if place.is_dir() and (len(every) > 1 or every[0].folder == place):
        _expect(place, names, parts, every[0].format.shape)
    else:
        parts = PARTS
    found = _joined([_read(files, parts, options, report) for files in every])
    if place.is_dir():
        found = _with_edges(found, place, report, options.encoding)
    if options.labels is not None or (not place.is_dir() and part_of_name(place) is None):
        _check_label_file(found, report)
    train = found.parts.get("train")
    if train is not None and not len(train.data):
        report(DataError("there are no documents in it", path=train.path))
    return found


def _read(files: Files, parts: Sequence[str], options: ReadOptions, report: Report) -> Parts:
    chosen = files.format
    if options.labels is not None and not chosen.joins_parts:
        raise UsageError(f"--labels is for labels that have ids: the format {chosen.name} numbers them")
    wanted = {part: files.parts[part] for part in PARTS if part in parts and part in files.parts}
    found = chosen.read(wanted, files.folder, options, report)
    plain = Understood(path="", format=chosen.name, has_columns=False)
    described = {
        name: replace(
            part,
            understood=_with_encoding(part.understood or replace(plain, path=str(part.path)), part.path),
        )
        for name, part in found.parts.items()
    }
    return replace(found, parts=described)


def _with_encoding(understood: Understood, path: Path) -> Understood:
    """What was understood with the encoding that the file itself names."""
    with opened(path, None) as handle:
        marked = handle.read(2) in UTF_16_MARKS
    return replace(understood, encoding=UTF_16) if marked else understood


def _joined(found: list[Parts]) -> Parts:
    """The parts of files in several formats, over the labels of all of them."""
    if len(found) == 1:
        return found[0]
    labels = found[0].labels.extended(label for each in found[1:] for label in each.labels.ids)
    parts = {
        name: replace(each.parts[name], data=each.parts[name].data.relabelled(labels))
        for name in PARTS
        for each in found
        if name in each.parts
    }
    return replace(found[0], labels=labels, parts=parts)


def _check_label_file(found: Parts, report: Report) -> None:
    """A file of labels that has none of the labels of the documents is not theirs."""
    if found.listed is None or not found.listed:
        return
    used = [np.unique(part.data.Y.indices) for part in found.parts.values()]
    if any(len(columns) for columns in used) and not any((columns < found.listed).any() for columns in used):
        path = next(iter(found.parts.values())).path
        report(
            DataError(
                f"no label of the documents is in the file of labels {found.labels_path}: name theirs "
                "with --labels (labels in Python), or move that one away",
                path=path,
            )
        )


def _with_edges(found: Parts, folder: Path, report: Report, encoding: str) -> Parts:
    path = find_file(folder, [EDGES])
    if path is None:
        return found
    edges = read_edges(path, report, encoding)
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
