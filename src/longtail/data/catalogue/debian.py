"""Debian's package index of this machine: a package's name and description -> the packages it is related to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from longtail.data.catalogue.linked import Things, linked_parts
from longtail.data.catalogue.package_index import LISTS, long_descriptions, packages
from longtail.data.splits import group_split
from longtail.errors import DataError
from longtail.types import Dataset

FRACTIONS: Mapping[str, float] = {"train": 0.7, "valid": 0.1, "test": 0.2}
RELATIONS = ("Pre-Depends", "Depends", "Recommends", "Suggests", "Enhances")

_END_OF_NAME = re.compile(r"[\s(:\[<]")


def debian(
    *, folder: str | Path = LISTS, fractions: Mapping[str, float] = FRACTIONS, seed: int = 0
) -> dict[str, Dataset]:
    """Packages as documents (title: name and short description, text: long description) and as labels.

    Packages of one source stay in one part; a package as its own label is not scored.

    Args:
        folder: where apt keeps its lists (``*_Packages``, ``*_Translation-en``, plain or compressed).
        fractions: the share of each part by its name, the training part first.
        seed: for the split.
    """
    extra: list[Mapping[str, Any]] = []
    things = Things([], [], [], [], [], extra)
    seen: set[str] = set()
    translated = long_descriptions(Path(folder))
    for fields in packages(Path(folder)):
        name = fields["Package"]
        if name in seen:  # another version or architecture of a package that is there
            continue
        seen.add(name)
        short, _, long = fields.get("Description", "").partition("\n")
        text = long or translated.get(fields.get("Description-md5", ""), "")
        title = f"{name}: {short.strip()}" if short.strip() else name
        extra.append({"source": _END_OF_NAME.split(fields.get("Source", name))[0]})
        things.ids.append(name)
        things.titles.append(title)
        things.texts.append(plain_description(text))
        things.label_texts.append(title)
        things.links.append(related(fields))
    if not things.ids:
        raise DataError(
            f"there is no package index in {folder}: run apt-get update, or use the data set synthetic"
        )
    shares = list(fractions.values())

    def split(rows: np.ndarray) -> np.ndarray:
        return group_split([extra[row]["source"] for row in rows], shares, seed)

    return linked_parts(things, list(fractions), split)


def related(fields: Mapping[str, str]) -> list[str]:
    """The names in all relations of a package, every alternative, without versions and architectures."""
    entries = (entry for name in RELATIONS for entry in re.split(r"[,|]", fields.get(name, "")))
    return [_END_OF_NAME.split(entry.strip())[0] for entry in entries if entry.strip()]


def plain_description(text: str) -> str:
    """A long description without its leading spaces; the line " ." stands for an empty one."""
    lines = [line[1:] if line.startswith(" ") else line for line in text.split("\n")]
    return "\n".join("" if line.strip() == "." else line.rstrip() for line in lines).strip()
