"""The parts of a data set (train, valid, test) as reading finds them, and the files they are in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from longtail.data.lines import COMPRESSED
from longtail.data.understood import Understood
from longtail.errors import DataError
from longtail.types import Dataset, LabelSet

PARTS = ("train", "valid", "test")

STEMS = {
    "train": ("train", "trn", "training"),
    "valid": ("valid", "val", "validation", "dev"),
    "test": ("test", "tst", "testing"),
}
"""The names of a part in file names."""

_WORD_BREAKS = re.compile(r"[^a-z]+")


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One part with where it came from.

    ``lines`` is the line number of each document in the file at ``path``; ``unknown_filters`` counts the pairs
    of the filter file that name a document or label that is not there; ``numbered`` says that documents have no
    ids of their own but row numbers; ``understood`` says how the file was read.
    """

    data: Dataset
    path: Path
    lines: np.ndarray
    unknown_filters: int = 0
    numbered: bool = False
    understood: Understood | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """All parts over one label set; the first ``listed`` labels come from a file of labels, if there is one."""

    labels: LabelSet
    listed: int | None
    parts: dict[str, Part] = field(default_factory=dict)
    labels_path: Path | None = None


def find_file(folder: Path, names: Sequence[str]) -> Path | None:
    """The one file of these names, plain or compressed, in any case, that the folder has; two are an error."""
    wanted = {f"{name}{ending}".lower(): None for name in names for ending in ("", *COMPRESSED)}
    if not wanted or not folder.is_dir():
        return None
    found = {path: path.name.lower() for path in folder.iterdir() if path.name.lower() in wanted}
    order = list(wanted)
    there = sorted((path for path in found if path.is_file()), key=lambda path: order.index(found[path]))
    if len(there) > 1:
        raise DataError(f"both {there[0].name} and {there[1].name} are there; keep one of them", path=folder)
    return there[0] if there else None


def part_file(folder: Path, part: str, endings: Sequence[str]) -> Path | None:
    """The file of a part by its usual names, as in train.csv or trn.csv.gz."""
    return find_file(folder, [f"{stem}{ending}" for stem in STEMS[part] for ending in endings])


def part_files(folder: Path, endings: Sequence[str]) -> dict[str, Path]:
    """The files of all parts that are there, in the order train, valid, test."""
    found = {part: part_file(folder, part, endings) for part in PARTS}
    return {part: path for part, path in found.items() if path is not None}


def part_of_name(path: Path) -> str | None:
    """The part that a file's name speaks of, as in train.csv, tst_X_Xf.txt or X.trn.npz; None if it does not."""
    words = _WORD_BREAKS.split(path.name.lower())
    return next((part for part, stems in STEMS.items() if any(stem in words for stem in stems)), None)
