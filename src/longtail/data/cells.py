"""Rows of named cells (a table, a data frame) as records."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from longtail.data.json_record import joined_texts
from longtail.data.options import ReadOptions
from longtail.data.records import NOTHING, Placed, Record
from longtail.data.roles import Roles, find_roles, no_text
from longtail.data.understood import lacking
from longtail.label_cells import (
    NONE,
    check_not_indicators,
    label_of,
    ordered_labels,
    splitter,
    whole_number,
)


def column_roles(header: Sequence[str], options: ReadOptions) -> Roles:
    """The roles of the columns of a table; a column that is named and not there is a ValueError."""
    problem = lacking(list(header), options, "column")
    if problem is not None:
        raise ValueError(problem)
    named = (options.id_column, options.title_column, *options.text_columns, options.label_column)
    if options.remembered_labels and options.label_column not in header:
        raise ValueError(
            f"there is no column {options.label_column!r}: the model was trained with the labels there, "
            f"the file has {', '.join(header)}; name the column of the labels with --label-column"
        )
    for name in named:
        if name is not None and name not in header:
            raise ValueError(f"there is no column {name!r}; the columns are {', '.join(header)}")
    roles = find_roles(header, options)
    for name in (roles.id, roles.title, *roles.texts, roles.labels):
        if name is not None and header.count(name) > 1:
            raise ValueError(f"there are two columns {name!r}; rename one")
    if roles.title is None and not roles.texts:
        raise ValueError(no_text(header, "columns"))
    return roles


def cell_records(
    header: Sequence[str], roles: Roles, rows: Iterable[tuple[int, Sequence[Any]]], separator: str | None
) -> Iterator[Placed]:
    """The records of the rows; ``separator`` stands between the labels of one cell."""
    place = {name: at for at, name in enumerate(header)}
    id_at, title_at, label_at = (
        -1 if name is None else place[name] for name in (roles.id, roles.title, roles.labels)
    )
    text_at = [place[name] for name in roles.texts]
    others = [(at, name) for at, name in enumerate(header) if name in roles.others and name]
    split = splitter(separator or NONE)
    for number, row in rows:
        extra = {name: row[at] for at, name in others if not is_missing(row[at])}
        yield (
            number,
            Record(
                None if id_at < 0 or is_missing(row[id_at]) else _text(row[id_at]),
                "" if title_at < 0 else _text(row[title_at]),
                joined_texts([_text(row[at]) for at in text_at]),
                [] if label_at < 0 else _labels(row[label_at], split),
                None,
                extra or NOTHING,
            ),
        )


def is_missing(cell: Any) -> bool:
    """Whether there is nothing in the cell."""
    if isinstance(cell, str):
        return not cell
    if isinstance(cell, float):
        return math.isnan(cell)
    # pandas has marks of its own for nothing, which can be compared with nothing.
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")


def _labels(cell: Any, split: Callable[[str], list[str]]) -> list[str]:
    if isinstance(cell, str):
        return split(cell)
    values = ordered_labels(cell) if isinstance(cell, Iterable) else [cell]
    check_not_indicators(values)
    return [label for value in values if (label := label_of(value)) is not None]


def _text(cell: Any) -> str:
    return cell if isinstance(cell, str) else "" if is_missing(cell) else whole_number(cell) or str(cell)
