"""The folder of prepared data: its description, whether it is stale, and its parts as data sets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from longtail.errors import DataError
from longtail.prepared.features import PreparedFeatures
from longtail.prepared.parts import read_labels, read_part, read_rows
from longtail.prepared.source import changed_file
from longtail.storage.jsonfile import read_json
from longtail.types import Dataset

DESCRIPTION = "prepared.json"
FORMAT = 1


def this_version() -> str:
    """The version of longtail that is installed."""
    return metadata.version("longtail")


def is_prepared(path: str | Path) -> bool:
    """Whether a folder has prepared data."""
    return (Path(path) / DESCRIPTION).is_file()


@dataclass(frozen=True, slots=True, eq=False)
class PreparedData:
    """What training takes from a prepared folder.

    Attributes:
        parts: train, and valid if there is one; texts and rows stay on the disk.
        reading: what a model keeps of how its data were read.
        held_out: the seed by which validation documents were held out; None: they were not.
    """

    parts: dict[str, Dataset]
    reading: dict[str, Any]
    held_out: int | None


def open_prepared(path: str | Path) -> PreparedData:
    """The data of a prepared folder; an error of one sentence if it is stale or damaged."""
    root = Path(path)
    found = read_json(root / DESCRIPTION)
    _check(found, root)
    labels = read_labels(root)
    whole = {name: read_part(part, root, labels) for name, part in found["parts"].items()}
    rows = read_rows(root)
    parts = {name: whole["train"].take(numbers) for name, numbers in rows.items()} if rows else whole
    prepared = PreparedFeatures(root.absolute(), found["features"], found["fingerprint"])
    train = parts["train"]
    train = replace(train, documents=replace(train.documents, prepared=prepared))
    prepared.data.append(train)
    return PreparedData({**parts, "train": train}, found["reading"], found["held_out"])


def _check(found: Any, root: Path) -> None:
    kinds = {"parts": dict, "features": dict, "reading": dict, "fingerprint": str, "source": dict}
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise DataError(
            f"is of another format than {FORMAT}: prepare the data again", path=root / DESCRIPTION
        )
    if any(not isinstance(found.get(name), kind) for name, kind in kinds.items()):
        raise DataError("is damaged: prepare the data again", path=root / DESCRIPTION)
    if found.get("version") != this_version():
        raise DataError(
            f"was prepared by longtail {found.get('version')}, and this is {this_version()}: "
            "prepare the data again",
            path=root,
        )
    changed = changed_file(found["source"])
    if changed is not None:
        raise DataError(f"was prepared before {changed} changed: prepare the data again", path=root)
