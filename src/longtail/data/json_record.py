"""One line of JSON as a document's record."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

import orjson

from longtail.data.options import ReadOptions
from longtail.data.records import NOTHING, REVEALED, Record


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
    # The usual name of each is tried first and on its own: this function is the speed of reading.
    id_name, *other_ids = options.id_names
    title_name = options.title_names[0]
    text_name, *other_texts = options.text_names
    label_name, *other_labels = options.label_names
    separator = options.label_separator

    def parse(line: bytes) -> Record:
        found = json_object(line)
        pop = found.pop
        id_, title, text, labels = (
            pop(id_name, None),
            pop(title_name, ""),
            pop(text_name, None),
            pop(label_name, None),
        )
        if id_ is None:
            id_ = take(found, other_ids)
        if text is None:
            text = take(found, other_texts)
        if labels is None:
            labels = take(found, other_labels)
        revealed = pop(REVEALED, None) if found else None
        return Record(
            id_ if type(id_) is str else None if id_ is None else as_text(id_, "the id"),
            title if type(title) is str else as_text(title, "the title"),
            text if type(text) is str else as_text(text, "the text"),
            label_ids(labels, separator),
            None,
            found or NOTHING,
            () if revealed is None else label_ids(revealed, separator),
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
    try:
        # Far cheaper than asking each label for its type.
        "".join(value)
        return cast("list[str]", value)
    except TypeError:
        pass
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


def take(found: dict[str, Any], names: Iterable[str]) -> Any:
    """The value of the first of these keys that is there, taken out; None if there is none."""
    for name in names:
        if name in found:
            return found.pop(name)
    return None
