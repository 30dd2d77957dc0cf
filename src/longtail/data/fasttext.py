"""fastText: ``__label__a __label__b text`` a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from longtail.data.format import Files, Format
from longtail.data.lines import byte_lines, first_lines
from longtail.data.options import ReadOptions
from longtail.data.parts import PARTS, STEMS, Parts, part_file
from longtail.data.records import Batch, Placed, Record, Report, batches, fail, parsed
from longtail.data.row_folder import read_rows
from longtail.data.vocabulary import folder_labels

PREFIX = "__label__"
_LEADING = re.compile(r"\s*(?:__label__\S*\s+|__label__\S*$)*")
_ENDINGS = (".txt", ".ft", ".fasttext")


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
    return parsed(byte_lines(path, options.encoding), parse, path, report)


def stream(path: Path, options: ReadOptions, size: int) -> Iterator[Batch]:
    """The documents of one file, some at a time."""
    return batches(records(path, options), size)


def parse(line: bytes) -> Record:
    """The record of one line; a label may stand anywhere in it, though it usually leads."""
    text = line.decode("utf-8")
    lead = _LEADING.match(text)
    end = lead.end() if lead else 0
    marked, rest = text[:end].split(), text[end:]
    if PREFIX in rest:
        words = rest.split()
        marked += [word for word in words if word.startswith(PREFIX)]
        rest = " ".join(word for word in words if not word.startswith(PREFIX))
    labels = [word[len(PREFIX) :] for word in marked]
    if not all(labels):
        raise ValueError(f"there is a {PREFIX} without a name behind it")
    return Record(text=rest, labels=labels)


def _files(folder: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for part in PARTS:
        # fastText's own examples are called cooking.train and cooking.valid.
        named = sorted(path for stem in STEMS[part] for path in folder.glob(f"*.{stem}"))
        path = part_file(folder, part, _ENDINGS) or (named[0] if len(named) == 1 else None)
        if path is not None:
            found[part] = path
    return found


def _fits_file(path: Path) -> bool:
    return any(PREFIX in line for line in first_lines(path, 5))


FORMAT = Format(
    name="fasttext",
    shape="train.txt, valid.txt, test.txt with __label__a __label__b text a line",
    files=_files,
    fits_file=_fits_file,
    read=read,
    stream=stream,
    joins_parts=True,
)
