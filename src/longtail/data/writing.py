"""Write data sets in the formats that can be written; the folder is complete, or not there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from longtail.data.formats import FORMATS, format_named
from longtail.data.parts import PARTS
from longtail.errors import UsageError
from longtail.types import Dataset


def write(
    parts: Mapping[str, Dataset], path: str | Path, *, format: str = "jsonl", force: bool = False
) -> None:
    """Write the parts of a data set as a folder.

    Args:
        parts: data sets over one label set by the names train, valid, test.
        path: the folder to write.
        format: jsonl (everything but feature rows), xmc, xmc-split, pecos (feature rows) or text2text (texts).
        force: replace a folder that is there already.
    """
    from longtail.storage import writing_folder

    writer = writer_of(format)
    if not parts:
        raise UsageError("there is no part to write")
    unknown = next((part for part in parts if part not in PARTS), None)
    if unknown is not None:
        raise UsageError(f"there is no part {unknown!r}; the parts are {', '.join(PARTS)}")
    labels = next(iter(parts.values())).labels
    if any(data.labels is not labels and data.labels.ids != labels.ids for data in parts.values()):
        raise UsageError("the parts are over different label sets; bring them onto one with relabelled()")
    with writing_folder(path, force=force, manifest=False) as folder:
        writer({part: parts[part] for part in PARTS if part in parts}, folder)


def writer_of(format: str) -> Callable[[Mapping[str, Dataset], Path], None]:
    """What writes the format; an error if it can only be read."""
    writer = format_named(format).write
    if writer is None:
        able = ", ".join(name for name, found in FORMATS.items() if found.write is not None)
        raise UsageError(f"the format {format} can only be read; write {able}")
    return writer


def left_out(parts: Mapping[str, Dataset], *, format: str) -> str | None:
    """What of the parts the format has no place for, in one sentence; None if nothing is lost."""
    lost = []
    chosen = format_named(format)
    if not chosen.keeps_weights and any(bool((data.Y.data != 1).any()) for data in parts.values()):
        able = ", ".join(name for name, found in FORMATS.items() if found.keeps_weights)
        lost.append(
            f"label weights are not written, as the format {format} has none: those that keep them are {able}"
        )
    if not chosen.keeps_label_features and any(data.labels.features is not None for data in parts.values()):
        lost.append(f"label features are not written, as the format {format} has none: xmc-split keeps them")
    if not chosen.keeps_links:
        there = {
            "revealed labels": any(data.revealed is not None for data in parts.values()),
            "edges": any(data.edges is not None for data in parts.values()),
        }
        names = " and ".join(name for name, is_there in there.items() if is_there)
        if names:
            lost.append(f"{names} are not written, as the format {format} has none: jsonl keeps them")
    return "; ".join(lost) or None
