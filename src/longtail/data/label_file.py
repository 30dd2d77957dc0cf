"""The labels of a data set from a file of their own: ids, texts and further keys, in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from longtail.data.encoding import UTF_8
from longtail.data.json_block import are_strings, columns_of
from longtail.data.json_record import as_text, json_object, take
from longtail.data.label_names import alternative_names
from longtail.data.lines import clean_lines, line_blocks, text_lines
from longtail.data.records import NOTHING, Report, fail
from longtail.errors import DataError
from longtail.types import LabelSet

_ID_KEYS = ("id", "uid", "uri")
_TEXT_KEYS = ("text", "title", "label", "name")


class LabelRows:
    """Labels as they are read; an id that comes again is an error with both lines.

    Args:
        named: whether a label without any name is an error too.
    """

    def __init__(self, path: Path, report: Report = fail, *, named: bool = False) -> None:
        self.path = path
        self._report = report
        self._named = named
        self._line_of: dict[str, int] = {}
        self._texts: list[str] = []
        self._extra: list[Mapping[str, Any]] = []

    def add(self, line: int, id_: str, text: str, extra: Mapping[str, Any] = NOTHING) -> None:
        """Take one more label."""
        first = self._line_of.setdefault(id_, line)
        if len(self._line_of) == len(self._texts):
            problem = f"the label id {id_!r} is there twice (first in line {first})"
            self._report(DataError(problem, path=self.path, line=line))
            return
        if self._named and not any(name.strip() for name in (text, *alternative_names(extra))):
            del self._line_of[id_]
            self._report(DataError(f"the label {id_!r} has no name", path=self.path, line=line))
            return
        self._texts.append(text)
        self._extra.append(extra)

    def add_all(self, first: int, ids: Sequence[str], texts: Sequence[str]) -> None:
        """Take the labels of the lines from this one on."""
        line_of = dict(zip(ids, range(first, first + len(ids)), strict=True))
        named = not self._named or all(map(str.strip, texts))
        if named and len(line_of) == len(ids) and self._line_of.keys().isdisjoint(line_of):
            self._line_of.update(line_of)
            self._texts.extend(texts)
            self._extra.extend([NOTHING] * len(ids))
            return
        for line, (id_, text) in enumerate(zip(ids, texts, strict=True), first):
            self.add(line, id_, text)

    def labels(self) -> LabelSet:
        """All labels."""
        return LabelSet(list(self._line_of), self._texts, self._extra if any(self._extra) else None)


def read_jsonl_labels(
    path: Path, report: Report = fail, *, named: bool = False, encoding: str = UTF_8
) -> LabelSet:
    """Labels of one JSON object per line: ``id``, ``text``, and whatever else it has."""
    rows = LabelRows(path, report, named=named)
    for first, lines in line_blocks(path, encoding=encoding):
        columns = _ids_and_texts(lines)
        if columns is None:
            _add_each(rows, clean_lines(lines, path, first), report)
        else:
            rows.add_all(first, *columns)
    return rows.labels()


def _ids_and_texts(lines: list[bytes]) -> list[tuple[str, ...]] | None:
    """Ids and texts of lines that have them and nothing else, else None."""
    try:
        columns = columns_of(list(map(orjson.loads, lines)), (_ID_KEYS[0], _TEXT_KEYS[0]))
    except orjson.JSONDecodeError:
        return None
    return columns if columns is not None and all(map(are_strings, columns)) else None


def _add_each(rows: LabelRows, lines: Iterable[tuple[int, bytes]], report: Report) -> None:
    for number, line in lines:
        if not line or line.isspace():
            continue
        try:
            found = json_object(line)
            id_ = take(found, _ID_KEYS)
            if id_ is None:
                raise ValueError('the label has no "id"')
            text = as_text(take(found, _TEXT_KEYS), "the label's text")
            rows.add(number, as_text(id_, "the label's id"), text, found or NOTHING)
        except ValueError as error:
            report(DataError(str(error), path=rows.path, line=number))


def read_label_names(path: Path, report: Report = fail, encoding: str = UTF_8) -> LabelSet:
    """Labels of one name a line; the name is the id, and there is no further text."""
    rows = LabelRows(path, report)
    for number, line in without_last_blank(text_lines(path, encoding)):
        rows.add(number, line, "")
    return rows.labels()


def without_last_blank(lines: Iterable[tuple[int, str]]) -> Iterable[tuple[int, str]]:
    """The lines without empty ones at the end: in files where the line number is the column, others count."""
    waiting: list[tuple[int, str]] = []
    for number, line in lines:
        if line:
            yield from waiting
            waiting.clear()
            yield number, line
        else:
            waiting.append((number, line))
