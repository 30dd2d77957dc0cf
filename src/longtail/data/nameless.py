"""The format of lines that have no file name to go by: a pipe, or a file that is called .txt.

One reading is taken where there is only one. Where there are several, that is an error which names them.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from longtail.data import annif, fasttext, table, xmc_raw
from longtail.data.options import DEFAULTS, ReadOptions
from longtail.data.roles import find_roles
from longtail.data.sparse_text import read_shape
from longtail.errors import DataError

LINES = 5
"""How many of the first lines are looked at."""

JSON_ARRAY = "is a JSON array: write one object per line, as in jq -c '.[]' old.json > new.jsonl"
_ENTRIES = re.compile(r"[0-9,]*(\s*[0-9]+:[-+.0-9eEnaifNAIF]+)+\s*")
_SPARSE = re.compile(r"([-0-9][^A-Za-z]*[\s,])?[0-9]+:[-+.0-9]")
_LABELS = re.compile(r"[0-9]+(,[0-9]+)*")
_NUMBERED = re.compile(r"[0-9]+(::[^,\t]*)?(,[0-9]+(::[^,\t]*)?)*\t")
_NAME = re.compile(r"[^\W\d][\w.-]{0,30}( [\w.-]{1,30}){0,2}")
_MARKUP = ("<?xml", "<!doctype", "<html", "<rdf:rdf")
_WIDEST_HEADER = 10


def format_of(lines: Sequence[str], path: str | Path, options: ReadOptions = DEFAULTS) -> str:
    """The format of a pipe, by its first lines that are not blank."""
    first = lines[0] if lines else ""
    if first.lstrip().startswith("{"):
        return xmc_raw.FORMAT.name if xmc_raw.has_targets(first) else "jsonl"
    shape = read_shape(first)
    if shape is not None and len(shape) in (2, 3) and len(lines) > 1:
        entries = [_ENTRIES.fullmatch(line) is not None for line in lines[1:]]
        if any(entries) and all(
            found or _of_numbers(line) for found, line in zip(entries, lines[1:], strict=True)
        ):
            return "xmc" if len(shape) == 3 else "xmc-split"
    if any(fasttext.PREFIX in line for line in lines):
        return fasttext.FORMAT.name
    if first and annif.is_corpus_line(first):
        return annif.FORMAT.name
    if are_numbered(lines):
        raise DataError(
            f"the lines may be numbers of labels, a tab and a text, or texts: {_say('text2text', 'text')}",
            path=path,
            line=1,
        )
    if known_columns(first, options) > 1:
        return table.FORMAT.name
    check_plain(lines, path, options)
    return "text"


def are_numbered(lines: Sequence[str]) -> bool:
    """Whether every line begins with numbers and a tab."""
    return bool(lines) and all(_NUMBERED.match(line) for line in lines)


def check_plain(lines: Sequence[str], path: str | Path, options: ReadOptions = DEFAULTS) -> None:
    """Raise if these lines may be anything but one text each."""
    first = lines[0].strip() if lines else ""
    if _is_json_array(first):
        raise DataError(JSON_ARRAY, path=path)
    if first.lower().startswith(_MARKUP):
        raise DataError(
            f"is XML or HTML, which is no format of documents; if lines are texts, {_say('text')}", path=path
        )
    if len(lines) > 1 and all(map(_ENTRIES.fullmatch, lines)):
        raise DataError(
            "the lines are sparse vectors (number:value) without a header: write the numbers of documents, "
            f"features and labels in a line before them; if they are texts, {_say('text')}",
            path=path,
            line=1,
        )
    _check_not_sparse(lines, path)
    header = header_of(first)
    known = known_columns(first, options)
    if known > 1 or (known and len(header) <= _WIDEST_HEADER):
        raise DataError(
            f"the first line may be the names of columns ({', '.join(header)}) or a text: {_say('table', 'text')}",
            path=path,
            line=1,
        )
    tabs = {line.count("\t") for line in lines}
    if len(lines) > 1 and len(tabs) == 1 and 0 not in tabs:
        raise DataError(
            "there are tabs in every line: the lines may be rows of a table with names of columns first, or "
            f"texts: {_say('table', 'text')}",
            path=path,
            line=1,
        )
    if len(lines) > 2 and _are_rows(lines):
        raise DataError(
            f"the first line may be the names of columns ({', '.join(header)}), of which none is known, or a text: "
            f"{_say('table', 'text')}",
            path=path,
            line=1,
        )


def _check_not_sparse(lines: Sequence[str], path: str | Path) -> None:
    """Raise if the first line may be the header of sparse vectors, whatever else is wrong with the next lines."""
    shape, others = read_shape(lines[0]) if lines else None, lines[1:]
    if shape is None or len(shape) not in (2, 3) or not others:
        return
    if any(_SPARSE.match(line.strip()) for line in others) or all(
        _LABELS.fullmatch(line.strip()) for line in others
    ):
        kind = "xmc" if len(shape) == 3 else "xmc-split"
        raise DataError(
            "the first line may be the numbers of documents, features and labels of sparse vectors, or all lines "
            f"are texts: {_say(kind, 'text')}",
            path=path,
            line=1,
        )


def _say(*formats: str) -> str:
    choices = " or ".join(f"--format {name}" for name in formats)
    return f"say {'which' if len(formats) > 1 else 'so'} with {choices} (predict: --input-format, Python: format)"


def known_columns(line: str, options: ReadOptions = DEFAULTS) -> int:
    """How many names of known columns are in a line, if it is the header of a table."""
    header = header_of(line)
    if not header or not all(header):
        return 0
    try:
        # Labels are not read in a prediction, but their column says as much that this is a table.
        roles = find_roles(header, replace(options, with_labels=True))
    except ValueError:  # Two that may each be the same.
        return 2
    return sum(name is not None for name in (roles.id, roles.title, *roles.texts, roles.labels))


def header_of(line: str) -> list[str]:
    """The cells of a line."""
    return [name.strip() for name in _cells(line, delimiter_of(line))]


def delimiter_of(line: str) -> str:
    """What separates the cells of a header."""
    return max(table.DELIMITERS, key=line.count)


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        # A line that is no row of a table: a carriage return in it, a cell of a hundred thousand characters.
        return []


def _are_rows(lines: Sequence[str]) -> bool:
    """Whether these look like a header of names without spaces around them, and rows as long as it."""
    delimiter = delimiter_of(lines[0])
    rows = [_cells(line, delimiter) for line in lines]
    names = rows[0]
    return (
        len(names) > 1
        and len(set(names)) == len(names)
        and all(_NAME.fullmatch(name) for name in names)
        and all(len(row) == len(names) for row in rows)
    )


def _of_numbers(line: str) -> bool:
    """A document without features: labels alone, or nothing."""
    return re.fullmatch(r"[0-9,\s]*", line) is not None


def _is_json_array(line: str) -> bool:
    if not line.startswith("["):
        return False
    if line == "[" or re.match(r"\[\s*\{", line):
        return True
    try:
        return isinstance(json.loads(line), list)
    except (ValueError, RecursionError):
        return re.fullmatch(r'\[\s*".*",', line) is not None
