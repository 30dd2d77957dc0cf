"""Some lines of JSON at once as columns: what is done a column at a time costs far less than a line at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar, cast

import orjson

from longtail.data.json_keys import Keys
from longtail.data.json_record import as_text, joined_texts, record_parser
from longtail.data.lines import LINES_AT_ONCE, clean_lines, line_blocks
from longtail.data.options import ReadOptions
from longtail.data.records import NOTHING, REVEALED, Block, Report, fail, grouped, parsed
from longtail.data.roles import Roles, no_text
from longtail.data.understood import lacking
from longtail.errors import DataError
from longtail.label_cells import MISSING, SeparatorScan

T = TypeVar("T")


def blocks(
    path: str | Path,
    options: ReadOptions,
    report: Report = fail,
    size: int = LINES_AT_ONCE,
    *,
    keys: Keys | None = None,
) -> Iterator[Block]:
    """The documents of a JSON-lines file, those of ``size`` lines at a time.

    Lines among which one is blank or wrong are parsed again, each on its own: that finds out which one it is,
    and gives the documents before it as if nothing had been read ahead.
    """
    keys = keys or Keys(options, lambda: separator_in([path], options))
    named = {options.id_column, options.title_column, *options.text_columns} - {None}
    missing = named if not options.remembered else set()
    block = None
    for block in _blocks(path, options, report, size, keys):
        yield block
    if block is None:
        return
    for key in sorted(missing - set(keys.names), key=str):
        # A key that the user names and no document has is a slip, not a data set without texts.
        report(DataError(f"no document has anything under the key {key!r}", path=path))
    problem = lacking(keys.names, options, "key")
    if problem is not None:
        report(DataError(problem, path=path))
    elif not keys.have_text and not named and keys.understood(path).others:
        report(DataError(no_text(keys.names, "keys"), path=path))


def separator_in(paths: Iterable[str | Path], options: ReadOptions) -> str:
    """What separates labels in the strings of all these files; DataError where that is in doubt."""
    scan = SeparatorScan()
    path: str | Path = ""
    for path in paths:
        keys = Keys(options)
        for _, lines in _as_far_as_it_goes(
            line_blocks(path, encoding=options.encoding), lambda problem: None
        ):
            for line in lines:
                try:
                    record = orjson.loads(line)
                    scan.add_all([record.get(keys.of(tuple(record)).labels), record.get(REVEALED)])
                except (ValueError, AttributeError):
                    # Reading the records meets it again, and reports it.
                    continue
    try:
        return scan.separator(options.trained_separator)
    except ValueError as error:
        raise DataError(str(error), path=path) from None


def _blocks(path: str | Path, options: ReadOptions, report: Report, size: int, keys: Keys) -> Iterator[Block]:
    parse_block, parse_line = block_parser(options, keys), record_parser(options, keys)
    for first, lines in _as_far_as_it_goes(line_blocks(path, size, options.encoding), report):
        try:
            block = parse_block(first, lines)
        except ValueError:
            yield from grouped(parsed(clean_lines(lines, path, first), parse_line, path, report), 1)
        except DataError as error:
            # What separates labels is in doubt, for all lines alike.
            report(error)
            return
        else:
            yield block


def block_parser(options: ReadOptions, keys: Keys | None = None) -> Callable[[int, list[bytes]], Block]:
    """A function from the number of the first line and the lines to their documents.

    Its documents are those that ``record_parser`` makes of each line; a line for which that would fail makes it
    raise ValueError as well, without saying which one.
    """
    keys = keys or Keys(options)
    text = options.text_columns[0] if len(options.text_columns) == 1 else "text"
    usual = (
        options.id_column or "id",
        options.title_column or "title",
        text,
        options.label_column or "labels",
    )

    def parse(first: int, lines: list[bytes]) -> Block:
        found: list[dict[str, Any]] = list(map(orjson.loads, lines))
        places = range(first, first + len(lines))
        columns = columns_of(found, usual)
        if (
            columns is not None
            and _are_usual(*columns)
            and keys.of(usual) == Roles(usual[0], usual[1], usual[2:3], usual[3])
        ):
            usual_ids, usual_titles, usual_texts, usual_labels = columns
            nothing = [NOTHING] * len(found)
            return Block(places, usual_ids, usual_titles, usual_texts, usual_labels, None, nothing)
        if _types(found) != {dict}:
            raise ValueError("not every line is a JSON object")
        roles = [keys.of(tuple(record)) for record in found]
        ids = [
            None if role.id is None else record.pop(role.id)
            for role, record in zip(roles, found, strict=True)
        ]
        if _types(ids) != {str}:
            ids = [None if id_ is None else as_text(id_, "the id") for id_ in ids]
        titles: list[Any] = []
        texts: list[str] = []
        labels: list[Any] = []
        for role, record in zip(roles, found, strict=True):
            titles.append(None if role.title is None else record.pop(role.title, None))
            texts.append(joined_texts([as_text(record.pop(name, None), "the text") for name in role.texts]))
            labels.append(None if role.labels is None else record.pop(role.labels, None))
        if not are_strings(titles):
            titles = [as_text(value, "the title") for value in titles]
        label_lists = [keys.label_ids(value) for value in labels]
        revealed = _revealed(found, keys) if any(found) else None
        extra = [record or NOTHING for record in found] if any(found) else [NOTHING] * len(found)
        return Block(places, ids, titles, texts, label_lists, None, extra, revealed)

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
    ids: Iterable[Any], titles: Iterable[Any], texts: Iterable[Any], labels: Sequence[Any]
) -> bool:
    return (
        _types(texts) == {str}
        and _types(labels) == {list}
        and are_strings(chain(ids, titles, chain.from_iterable(labels)))
        and MISSING.isdisjoint(chain.from_iterable(labels))
    )


def _revealed(found: list[dict[str, Any]], keys: Keys) -> list[list[str]] | None:
    values = [record.pop(REVEALED, None) for record in found]
    return [keys.label_ids(value) for value in values] if _types(values) != {type(None)} else None


def _types(values: Any) -> set[type]:
    return cast("set[type]", set(map(type, values)))
