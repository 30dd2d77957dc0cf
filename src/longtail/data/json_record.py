"""One line of JSON as a document's record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from longtail.data.options import ReadOptions
from longtail.data.records import NOTHING, Record


def json_object(line: bytes) -> dict[str, Any]:
    """The JSON object of a line; anything else is a ValueError that says what was found."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"is not valid JSON ({error.msg}, column {error.colno})") from None
    if type(value) is not dict:
        raise ValueError(f"expected a JSON object in braces, found {kind_of(value)}")
    return value


def record_parser(options: ReadOptions) -> Callable[[bytes], Record]:
    """A function from a line of JSON to its record, with the keys that the options name."""
    ids, titles, texts, labels = (
        options.id_names,
        options.title_names,
        options.text_names,
        options.label_names,
    )
    separator = options.label_separator

    def parse(line: bytes) -> Record:
        found = json_object(line)
        id_ = _take(found, ids)
        title = _take(found, titles)
        text = _take(found, texts)
        return Record(
            None if id_ is None else id_ if type(id_) is str else as_text(id_, "the id"),
            title if type(title) is str else as_text(title, "the title"),
            text if type(text) is str else as_text(text, "the text"),
            label_ids(_take(found, labels), separator),
            None,
            found or NOTHING,
        )

    return parse


def label_ids(value: Any, separator: str | None = None) -> list[str]:
    """The label ids of a JSON value: a list, or one label alone (or several, given what separates them)."""
    if value is None:
        return []
    if type(value) is str and separator is not None:
        return [label for part in value.split(separator) if (label := part.strip())]
    if type(value) is not list:
        value = [value]
    return [label if type(label) is str else _label(label) for label in value]


def as_text(value: Any, what: str) -> str:
    """A string, or a number as one, or nothing as the empty string."""
    if type(value) is str:
        return value
    if value is None:
        return ""
    if type(value) in (int, float):
        return str(value)
    raise ValueError(f"{what} must be a string, not {kind_of(value)}")


def kind_of(value: Any) -> str:
    """What a JSON value is, in a reader's words."""
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


def _label(value: Any) -> str:
    if value is None:
        raise ValueError("a label must be a string, not null")
    return as_text(value, "a label")


def _take(found: dict[str, Any], names: tuple[str, ...]) -> Any:
    for name in names:
        if name in found:
            return found.pop(name)
    return None
