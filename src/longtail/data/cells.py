"""Rows of named cells (a table, a data frame) as records: which column is what, and labels out of one cell."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import orjson

from longtail.data.json_record import label_ids
from longtail.data.options import ReadOptions
from longtail.data.records import NOTHING, Placed, Record

_SAMPLE = 1000
_SEPARATORS = (";", "|", ",")
_URIS = re.compile(r"\s*(<[^<>\s]+>|[a-zA-Z][\w+.-]*://\S+)(\s+(<[^<>\s]+>|[a-zA-Z][\w+.-]*://\S+))*\s*")


class Roles:
    """Which column is the id, the title, the text, the labels; -1 for none."""

    def __init__(self, header: Sequence[str], options: ReadOptions) -> None:
        plain = [name.strip().lower() for name in header]
        named = {name: at for at, name in enumerate(plain)}

        def place(names: tuple[str, ...], given: str | None) -> int:
            if given is None:
                found = next((name for name in names if name in named), None)
                if found is None:
                    return -1
                if plain.count(found) > 1:
                    raise ValueError(f"there are two columns {found!r}; rename one")
                return named[found]
            if given not in header:
                raise ValueError(f"there is no column {given!r}; the columns are {', '.join(header)}")
            if list(header).count(given) > 1:
                raise ValueError(f"there are two columns {given!r}; rename one")
            return list(header).index(given)

        self.header = list(header)
        self.id = place(options.id_names, options.id_column)
        self.title = place(options.title_names, options.title_column)
        self.text = place(options.text_names, options.text_column)
        self.labels = place(options.label_names, options.label_column)
        if self.title < 0 and self.text < 0:
            raise ValueError(
                f"none of the columns {', '.join(header)} is the text; name it with --text-column "
                "(text_column in Python)"
            )
        used = {self.id, self.title, self.text, self.labels}
        self.others = [(at, name) for at, name in enumerate(header) if at not in used and name]


def cell_records(
    roles: Roles, rows: Iterable[tuple[int, Sequence[Any]]], options: ReadOptions
) -> Iterator[Placed]:
    """The records of the rows; how labels are separated is inferred from the first thousand of them."""
    remaining = iter(rows)
    sample = list(islice(remaining, _SAMPLE))
    cells = [] if roles.labels < 0 else [row[roles.labels] for _, row in sample]
    split = label_splitter([cell for cell in cells if isinstance(cell, str)], options.label_separator)
    for number, row in chain(sample, remaining):
        extra = {name: row[at] for at, name in roles.others if not _is_missing(row[at])}
        yield (
            number,
            Record(
                None if roles.id < 0 or _is_missing(row[roles.id]) else _text(row[roles.id]),
                "" if roles.title < 0 else _text(row[roles.title]),
                "" if roles.text < 0 else _text(row[roles.text]),
                [] if roles.labels < 0 else _labels(row[roles.labels], split),
                None,
                extra or NOTHING,
            ),
        )


def label_splitter(sample: Sequence[str], separator: str | None) -> Callable[[str], list[str]]:
    """A function from a cell to its labels, by the separator or by what the sample looks like."""
    filled = [cell for cell in sample if cell.strip()]
    if separator is not None:
        if separator.isspace() and separator != "\t":
            return _split_uris
        return _splitter(separator)
    if filled and all(cell.lstrip().startswith("[") for cell in filled):
        return _split_json
    if filled and all(_URIS.fullmatch(cell) for cell in filled):
        return _split_uris
    found = next((mark for mark in _SEPARATORS if any(mark in cell for cell in filled)), None)
    # Without any mark a cell is one label: spaces are more often inside of a label than between two.
    return _whole if found is None else _splitter(found)


def _splitter(separator: str) -> Callable[[str], list[str]]:
    return lambda cell: [label for part in cell.split(separator) if (label := part.strip())]


def _split_uris(cell: str) -> list[str]:
    return [word[1:-1] if word.startswith("<") and word.endswith(">") else word for word in cell.split()]


def _split_json(cell: str) -> list[str]:
    try:
        return label_ids(orjson.loads(cell))
    except orjson.JSONDecodeError:
        raise ValueError(f"expected a JSON list of labels, found {cell[:40]!r}") from None


def _whole(cell: str) -> list[str]:
    return [cell.strip()] if cell.strip() else []


def _labels(cell: Any, split: Callable[[str], list[str]]) -> list[str]:
    if isinstance(cell, str):
        return split(cell) if cell.strip() else []
    if isinstance(cell, Iterable):
        return [_text(label) for label in cell]
    return [] if _is_missing(cell) else [_text(cell)]


def _text(cell: Any) -> str:
    return cell if isinstance(cell, str) else "" if _is_missing(cell) else str(cell)


def _is_missing(cell: Any) -> bool:
    if isinstance(cell, str):
        return not cell
    if isinstance(cell, float):
        return math.isnan(cell)
    # pandas has marks of its own for nothing, which can be compared with nothing.
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")
