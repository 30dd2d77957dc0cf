"""Labels in one string (a cell of a table, a string in JSON, a tag in Python): what separates them."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from numbers import Number
from typing import Any

NONE = "none"
"""The separator of strings that are one label each."""

LISTS = "json"
"""The separator of strings that are lists, as in ["a", "b"]."""

WHITE_SPACE = " "

BRACKETS = "<>"
"""The separator of strings such as <python><pandas>, as Stack Overflow writes them."""

MISSING = frozenset({"", "nan", "NaN", "None", "null", "NULL", "<NA>", "NaT", "N/A", "n/a", "#N/A"})
"""Strings that other programs write where there is no label."""

_MARKS = (";", "|")
_MANY = re.compile(r"[;|,\[]|://")
_PERHAPS_MANY = re.compile(r"[\s/&+]|::|><")
_IN_BRACKETS = re.compile(r"(<[^<>]+>)+")
_BREAKS = {"\n": "line breaks", "\t": "tabs"}
_UNUSUAL = {
    WHITE_SPACE: "white space",
    "/": "slashes",
    "::": "double colons",
    "&": "ampersands",
    "+": "plus signs",
}
"""What separates labels in some files, and is within single labels in most."""
_MOST_COMPARED = 100_000
"""Strings that are compared with each other at most."""
_FEWEST_COMBINED = 10
"""Fewer strings say nothing of how often their parts come together."""
_URIS = re.compile(r"\s*(<[^<>\s]+>|[a-zA-Z][\w+.-]*://\S+)(\s+(<[^<>\s]+>|[a-zA-Z][\w+.-]*://\S+))*\s*")
_SIDE_BY_SIDE = re.compile(r"""['"]\s+['"]""")
_OPTION = "--label-separator (label_separator in Python)"


class SeparatorScan:
    """Takes every string of labels of a data set, then says what separates labels in them."""

    def __init__(self) -> None:
        self._filled = False
        self._lists = True
        self._uris = True
        self._brackets = True
        self._first: dict[str, str] = {}
        self._cells: set[str] = set()
        self._strings = 0

    def add(self, cell: str) -> None:
        """Take one string."""
        cell = cell.strip()
        if cell in MISSING:
            return
        self._filled = True
        self._lists = self._lists and cell.startswith("[")
        self._uris = self._uris and _URIS.fullmatch(cell) is not None
        self._brackets = self._brackets and _IN_BRACKETS.fullmatch(cell) is not None
        for mark in (*_MARKS, ",", *_BREAKS):
            if mark not in self._first and mark in cell:
                self._first[mark] = cell
        if len(self._cells) < _MOST_COMPARED:
            self._cells.add(cell)
            self._strings += 1

    def add_all(self, values: Iterable[Any]) -> SeparatorScan:
        """Take those of the values that are strings."""
        for value in values:
            if isinstance(value, str):
                self.add(value)
        return self

    def separator(self, trained: str | None = None) -> str:
        """What separates two labels; ValueError with the choices where that is in doubt.

        Args:
            trained: what separates them in the training data of a model, which settles doubt.
        """
        try:
            found = self._inferred()
        except ValueError:
            if trained is None:
                raise
            return trained
        if trained == NONE or found == NONE:
            return trained or found
        evident = (LISTS, WHITE_SPACE, BRACKETS)
        if trained in (None, found, *evident) or found in evident:
            return found
        raise ValueError(
            f"labels are separated by {found!r}, but by {trained!r} in the training data of the model: say which "
            f"with {_OPTION}"
        )

    def _inferred(self) -> str:
        if self._filled and self._lists:
            return LISTS
        if self._filled and self._uris:
            return WHITE_SPACE
        if self._filled and self._brackets:
            return BRACKETS
        marks = [mark for mark in _MARKS if mark in self._first]
        if len(marks) > 1:
            both = " and ".join(f"{mark!r} (as in {_short(self._first[mark])})" for mark in marks)
            raise ValueError(
                f"labels may be separated by {both}: name the separator with {_OPTION}, "
                f"or {NONE!r} if each string is one label"
            )
        if marks:
            return marks[0]
        for mark, words in {",": "commas", **_BREAKS}.items():
            if mark in self._first:
                raise _one_or_several(self._first[mark], mark, words)
        self._check_unusual()
        return NONE

    def _check_unusual(self) -> None:
        """Strings with white space, a slash or the like are made of other labels, or of parts that are combined."""
        for mark, words in _UNUSUAL.items():
            split = splitter(mark)
            several = {cell: parts for cell in self._cells if mark in cell and len(parts := split(cell)) > 1}
            of_labels = [cell for cell, parts in several.items() if self._cells.issuperset(parts)]
            if len(of_labels) > 1 and 2 * len(of_labels) >= len(several):
                raise _one_or_several(min(of_labels), mark, words)
            if 2 * len(several) > len(self._cells) and self._combined(list(several.values())):
                raise _one_or_several(min(several), mark, words)

    def _combined(self, several: list[list[str]]) -> bool:
        """Whether parts come in ever other combinations: most strings occur once, and few of their parts do.

        Of the words in names of labels, about half occur in one name only.
        """
        orders = Counter(tuple(sorted(parts)) for parts in several)
        reordered = sum(count - 1 for count in orders.values())
        if reordered > 1 and 20 * reordered >= len(several):
            return True
        uses = Counter(part for parts in several for part in set(parts))
        once = sum(count == 1 for count in uses.values())
        return (
            len(several) >= _FEWEST_COMBINED
            and 2 * len(self._cells) > self._strings
            and 2 * sum(uses.values()) >= 5 * len(uses)
            and 3 * once <= len(uses)
        )


def _one_or_several(cell: str, mark: str, words: str) -> ValueError:
    shown = mark.encode("unicode_escape").decode()
    return ValueError(
        f"{_short(cell)} may be one label or {len(splitter(mark)(cell))} labels with {words} between them: "
        f"say which with {_OPTION}, {NONE!r} for one label or '{shown}' for several"
    )


def may_be_several_by_others(cell: str) -> bool:
    """Whether the string may be several labels, depending on all other strings."""
    return _PERHAPS_MANY.search(cell) is not None


def may_be_several(cell: str) -> bool:
    """Whether the string is more than one label by any of the separators that are inferred."""
    return _MANY.search(cell) is not None


def splitter(separator: str) -> Callable[[str], list[str]]:
    """A function from a string to its labels; what stands for no label is left out."""
    if separator == NONE:
        return lambda cell: _labels([cell])
    if separator == LISTS:
        return _split_list
    if separator == BRACKETS:
        return lambda cell: _labels(cell.strip().strip("<>").split("><"))
    if separator.isspace() and separator not in ("\t", "\n"):
        return _split_words
    return lambda cell: _labels(cell.split(separator))


def label_of(value: Any) -> str | None:
    """A label as a string: whole numbers without a decimal point; None for what is no label."""
    if isinstance(value, str):
        return None if value in MISSING else value
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return None
    return whole_number(value) or str(value)


def ordered_labels(row: Iterable[Any]) -> list[Any]:
    """The labels of a document as a list; those of a set are sorted, as its own order changes from run to run."""
    if isinstance(row, (bytes, bytearray)):
        raise ValueError(f"the labels are {row!r:.60}, a {type(row).__name__} and not a list of label ids")
    return sorted(row, key=str) if isinstance(row, (set, frozenset)) else list(row)


def check_not_indicators(values: Iterable[Any]) -> None:
    """Refuse a row of a 0/1 matrix where label ids are expected: 0 and 1 would become the only two labels."""
    listed = list(values)
    if not all(isinstance(value, Number) for value in listed):
        return
    if len(set(listed)) < len(listed) and set(listed) <= {0, 1}:
        shown = ", ".join(str(whole_number(value) or value) for value in listed[:8])
        raise ValueError(
            f"the labels [{shown}{', ...' if len(listed) > 8 else ''}] are a row of a 0/1 matrix and no label "
            "ids: write the ids of the labels that are 1 (in Python, a scipy.sparse.csr_array is taken as well)"
        )


def whole_number(value: Any) -> str | None:
    """The digits of a float that is a whole number, as pandas has them in a column with gaps; else None."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return None


def _labels(parts: Iterable[str]) -> list[str]:
    return [label for part in parts if (label := part.strip()) not in MISSING]


def _split_words(cell: str) -> list[str]:
    words = (word[1:-1] if word.startswith("<") and word.endswith(">") else word for word in cell.split())
    return _labels(words)


def _split_list(cell: str) -> list[str]:
    cell = cell.strip()
    if cell in MISSING:
        return []
    found: Any = None
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        # Python's own way to write a list; two strings side by side would be read as one.
        if not _SIDE_BY_SIDE.search(cell):
            try:
                found = ast.literal_eval(cell)
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                found = None
    if not isinstance(found, list) or any(isinstance(label, (list, dict, tuple, set)) for label in found):
        raise ValueError(f"expected a JSON list of labels, found {cell[:40]!r}")
    check_not_indicators(found)
    return [label for value in found if (label := label_of(value)) is not None]


def _short(cell: str) -> str:
    return repr(cell if len(cell) <= 60 else f"{cell[:57]}...")
