"""Some lines of JSON at once as columns: what is done a column at a time costs far less than a line at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar, cast

import orjson

from longtail.data.json_record import as_text, label_ids, record_parser, take
from longtail.data.lines import LINES_AT_ONCE, clean_lines, line_blocks
from longtail.data.options import ReadOptions
from longtail.data.records import NOTHING, REVEALED, Block, Report, fail, grouped, parsed
from longtail.errors import DataError

T = TypeVar("T")


def blocks(
    path: str | Path, options: ReadOptions, report: Report = fail, size: int = LINES_AT_ONCE
) -> Iterator[Block]:
    """The documents of a JSON-lines file, those of ``size`` lines at a time.

    Lines among which one is blank or wrong are parsed again, each on its own: that finds out which one it is,
    and gives the documents before it as if nothing had been read ahead.
    """
    named = {
        "ids": options.id_column,
        "titles": options.title_column,
        "texts": options.text_column,
    }
    missing = {column: key for column, key in named.items() if key is not None}
    block = None
    for block in _blocks(path, options, report, size):
        missing = {column: key for column, key in missing.items() if not any(getattr(block, column))}
        yield block
    if block is not None:
        for key in missing.values():
            # A key that the user names and no document has is a slip, not a data set without texts.
            report(DataError(f"no document has anything under the key {key!r}", path=path))


def _blocks(path: str | Path, options: ReadOptions, report: Report, size: int) -> Iterator[Block]:
    parse_block, parse_line = block_parser(options), record_parser(options)
    for first, lines in _as_far_as_it_goes(line_blocks(path, size), report):
        try:
            block = parse_block(first, lines)
        except ValueError:
            yield from grouped(parsed(clean_lines(lines, path, first), parse_line, path, report), 1)
        else:
            yield block


def block_parser(options: ReadOptions) -> Callable[[int, list[bytes]], Block]:
    """A function from the number of the first line and the lines to their documents.

    Its documents are those that ``record_parser`` makes of each line; a line for which that would fail makes it
    raise ValueError as well, without saying which one.
    """
    usual = [options.id_names[0], options.title_names[0], options.text_names[0], options.label_names[0]]
    separator = options.label_separator

    def parse(first: int, lines: list[bytes]) -> Block:
        found: list[dict[str, Any]] = list(map(orjson.loads, lines))
        places = range(first, first + len(lines))
        columns = columns_of(found, usual)
        if columns is not None and _are_usual(*columns):
            usual_ids, usual_titles, usual_texts, usual_labels = columns
            nothing = [NOTHING] * len(found)
            return Block(places, usual_ids, usual_titles, usual_texts, usual_labels, None, nothing)
        if _types(found) != {dict}:
            raise ValueError("not every line is a JSON object")
        ids = _column(found, options.id_names)
        if _types(ids) != {str}:
            ids = [None if id_ is None else as_text(id_, "the id") for id_ in ids]
        titles = _texts(_column(found, options.title_names[:1]), "the title")
        texts = _texts(_column(found, options.text_names), "the text")
        labels = _column(found, options.label_names)
        if _types(labels) != {list} or not _types(chain.from_iterable(labels)) <= {str}:
            labels = [label_ids(value, separator) for value in labels]
        revealed = _revealed(found, separator) if any(found) else None
        extra = [record or NOTHING for record in found] if any(found) else [NOTHING] * len(found)
        return Block(places, ids, titles, texts, labels, None, extra, revealed)

    return parse


def _as_far_as_it_goes(lines: Iterator[T], report: Report) -> Iterator[T]:
    try:
        yield from lines
    except DataError as error:
        # The file itself broke off: nothing can follow.
        report(error)


def columns_of(found: list[Any], names: Sequence[str]) -> list[tuple[Any, ...]] | None:
    """The values of each of these keys if all records are objects with these keys alone, else None.

    Most files are nothing else, and taking all values of a record at once is what makes reading them fast.
    """
    try:
        # Where two of the names are the same, the first takes the value, which the general way does.
        if set(map(len, found)) != {len(names)} or len(set(names)) < len(names):
            return None
        return list(zip(*map(itemgetter(*names), found), strict=True))
    except (KeyError, TypeError):
        return None


def are_strings(values: Iterable[Any]) -> bool:
    """Whether all are strings: where they are short, far cheaper than asking each for its type."""
    try:
        "".join(values)
    except TypeError:
        return False
    return True


def _are_usual(
    ids: Iterable[Any], titles: Iterable[Any], texts: Iterable[Any], labels: Iterable[Any]
) -> bool:
    return (
        _types(texts) == {str}
        and _types(labels) == {list}
        and are_strings(chain(ids, titles, chain.from_iterable(labels)))
    )


def _column(found: list[dict[str, Any]], names: Sequence[str]) -> list[Any]:
    """The values of the first of these keys, or of the next that is there, taken out of the records."""
    usual, *others = names
    values = [record.pop(usual, None) for record in found]
    if others and type(None) in _types(values):
        return [
            take(record, others) if value is None else value
            for value, record in zip(values, found, strict=True)
        ]
    return values


def _texts(values: list[Any], what: str) -> list[str]:
    if _types(values) == {str}:
        return values
    return [as_text(value, what) for value in values]


def _revealed(found: list[dict[str, Any]], separator: str | None) -> list[list[str]] | None:
    values = [record.pop(REVEALED, None) for record in found]
    return [label_ids(value, separator) for value in values] if _types(values) != {type(None)} else None


def _types(values: Any) -> set[type]:
    return cast("set[type]", set(map(type, values)))
