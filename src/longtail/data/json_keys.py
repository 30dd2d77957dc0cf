"""The keys of JSON records: which is what, in every record of a file alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from longtail.data.options import DEFAULTS, ReadOptions
from longtail.data.roles import Roles, find_roles
from longtail.data.understood import Understood
from longtail.label_cells import (
    MISSING,
    NONE,
    check_not_indicators,
    label_of,
    may_be_several,
    may_be_several_by_others,
    splitter,
)


class Keys:
    """Finds the roles of the keys of record after record, and remembers which keys were used.

    Args:
        options: keys that are named, the separator of labels in one string.
        scan: infers that separator from all files; called when a string may be several labels.
    """

    def __init__(self, options: ReadOptions = DEFAULTS, scan: Callable[[], str] | None = None) -> None:
        self.options = options
        self._scan = scan
        self._roles: dict[tuple[str, ...], Roles] = {}
        self._labels: str | None = None
        self._split = None if options.label_separator is None else splitter(options.label_separator)
        self.separator = options.label_separator
        self.strings = False

    def of(self, names: tuple[str, ...]) -> Roles:
        """The roles of the keys of one record."""
        found = self._roles.get(names)
        if found is None:
            found = find_roles(names, self.options)
            if self._labels is not None and found.labels not in (None, self._labels):
                raise ValueError(
                    f"the labels are under the key {found.labels!r}, but under {self._labels!r} in records before: "
                    "say which with --label-column (label_column in Python)"
                )
            self._labels = self._labels or found.labels
            self._roles[names] = found
        return found

    def label_ids(self, value: Any) -> list[str]:
        """The labels of a JSON value: a list, a number, or a string, which may be several labels."""
        if type(value) is not str:
            return label_ids(value)
        self.strings = True
        if self._split is None:
            several = may_be_several(value)
            if not several and (self._scan is None or not may_be_several_by_others(value)):
                return splitter(NONE)(value)
            if self._scan is None:
                raise ValueError(
                    f"the labels {value[:60]!r} may be one or several: name what separates them with "
                    "--label-separator (label_separator in Python), or 'none'"
                )
            self.separator = self._scan()
            self._split = splitter(self.separator)
        return self._split(value)

    @property
    def names(self) -> list[str]:
        """All keys of the records, each once."""
        return list(dict.fromkeys(name for names in self._roles for name in names))

    @property
    def have_text(self) -> bool:
        """Whether any record has a title or a text."""
        return any(roles.title is not None or roles.texts for roles in self._roles.values())

    def understood(self, path: str | Path, format: str = "jsonl") -> Understood:
        """What the keys of the records so far are."""
        try:
            every = find_roles(self.names, self.options)
        except ValueError:
            every = Roles()
        separator = (self.separator or NONE) if self.strings else None
        return Understood(
            path=str(path),
            format=format,
            id=every.id,
            title=every.title,
            texts=every.texts,
            labels=every.labels,
            separator=separator if every.labels is not None else None,
            others=tuple(name for name in every.others if name != "revealed"),
            encoding=self.options.encoding,
        )


def label_ids(value: Any) -> list[str]:
    """The label ids of a JSON value that is no string with several: a list, or one label alone."""
    if value is None:
        return []
    if type(value) is not list:
        value = [value]
    try:
        # Far cheaper than asking each label for its type.
        "".join(value)
    except TypeError:
        check_not_indicators(value)
        return [label for item in value if (label := _label(item)) is not None]
    return cast("list[str]", value) if MISSING.isdisjoint(value) else [x for x in value if x not in MISSING]


def _label(value: Any) -> str | None:
    kind = {dict: "an object", list: "a list", bool: "true or false", type(None): "null"}.get(type(value))
    if kind is not None:
        raise ValueError(f"a label must be a string, not {kind}")
    return label_of(value)
