"""All names of labels: the text of each, and alternative names among the further keys of its record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longtail.types import LabelSet

ALTERNATIVE_KEYS = ("alt", "alt_labels", "altLabels")
"""Keys of a label's record that may hold alternative names: a list of strings, or one string."""


def alternative_names(extra: Mapping[str, Any]) -> list[str]:
    """The alternative names in the further keys of one label; what is no string is left out."""
    found: list[str] = []
    for key in ALTERNATIVE_KEYS:
        value = extra.get(key)
        found += [
            name for name in (value if isinstance(value, list | tuple) else [value]) if type(name) is str
        ]
    return found


def label_names(labels: LabelSet) -> list[list[str]]:
    """The names of each label as they are, its text first (also where it is empty)."""
    if labels.extra is None:
        return [[text] for text in labels.texts]
    return [[text, *alternative_names(extra)] for text, extra in zip(labels.texts, labels.extra, strict=True)]


def distinct_names_of(labels: LabelSet, column: int) -> list[str]:
    """The names of one label without empty ones and repetitions (capitals and white space aside)."""
    extra = {} if labels.extra is None else labels.extra[column]
    kept: dict[str, str] = {}
    for name in (labels.texts[column], *alternative_names(extra)):
        if name.strip():
            kept.setdefault(name_key(name), name)
    return list(kept.values())


def name_key(name: str) -> str:
    """The same for names that differ in capitals and white space alone."""
    return " ".join(name.split()).casefold()
