"""What a data format is to the rest: how to recognise, read, stream and perhaps write it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from longtail.data.options import ReadOptions
from longtail.data.parts import Parts
from longtail.data.records import Batch, Report
from longtail.data.understood import Understood
from longtail.types import Dataset

Files: TypeAlias = Mapping[str, Path]


@dataclass(frozen=True, kw_only=True, slots=True)
class Format:
    """One format.

    Args:
        name: as users write it.
        shape: what the files look like, for messages.
        files: the file of each part in a folder, by their names alone.
        fits_file: whether a file is of this format, by its name and first lines.
        read: from the files of the parts (and the folder, unless it is a single file) to data.
        stream: the documents of one file in batches.
        write: the parts into a folder, if the format can be written.
        describe: how one file is read, from its first lines; raises what is wrong with them.
        joins_parts: whether a folder may have other parts in other formats of this kind.
        keeps_weights: whether what is written has the labels' weights.
        keeps_label_features: whether what is written has the feature rows of labels.
        keeps_links: whether what is written has revealed labels and edges.
    """

    name: str
    shape: str
    files: Callable[[Path], dict[str, Path]]
    fits_file: Callable[[Path], bool]
    read: Callable[[Files, Path | None, ReadOptions, Report], Parts]
    stream: Callable[[Path, ReadOptions, int], Iterator[Batch]]
    write: Callable[[Mapping[str, Dataset], Path], None] | None = None
    describe: Callable[[Path, ReadOptions], Understood] | None = None
    joins_parts: bool = False
    keeps_weights: bool = False
    keeps_label_features: bool = False
    keeps_links: bool = False
