"""One line of JSON as a document's record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import orjson

from longtail.data.json_keys import Keys
from longtail.data.options import ReadOptions
from longtail.data.records import NOTHING, REVEALED, Record
from longtail.label_cells import whole_number


def json_object(line: bytes) -> dict[str, Any]:
    """The JSON object of a line; anything else is a ValueError that says what was found."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        line.decode("utf-8")  # a line in another encoding has an error of its own
        raise ValueError(f"is not valid JSON ({error.msg}, column {error.colno})") from None
    if type(value) is not dict:
        raise ValueError(f"expected a JSON object in braces, found {kind_of(value)}")
    return value


def record_parser(options: ReadOptions, keys: Keys | None = None) -> Callable[[bytes], Record]:
    """A function from a line of JSON to its record; ``keys`` finds out which key is what."""
    keys = keys or Keys(options)

    def parse(line: bytes) -> Record:
        found = json_object(line)
        roles = keys.of(tuple(found))
        id_ = None if roles.id is None else found.pop(roles.id)
        title = "" if roles.title is None else as_text(found.pop(roles.title, None), "the title")
        texts = [as_text(found.pop(name, None), "the text") for name in roles.texts]
        labels = None if roles.labels is None else found.pop(roles.labels, None)
        revealed = found.pop(REVEALED, None) if found else None
        return Record(
            id_ if type(id_) is str else None if id_ is None else as_text(id_, "the id"),
            title,
            joined_texts(texts),
            keys.label_ids(labels),
            None,
            found or NOTHING,
            () if revealed is None else keys.label_ids(revealed),
        )

    return parse


def joined_texts(texts: Sequence[str]) -> str:
    """The texts that are not empty, a newline between them."""
    return texts[0] if len(texts) == 1 else "\n".join(text for text in texts if text.strip())


def as_text(value: Any, what: str) -> str:
    """A string, or a number as one, or nothing as the empty string."""
    if type(value) is str:
        return value
    if value is None:
        return ""
    if type(value) in (int, float):
        return whole_number(value) or str(value)
    raise ValueError(f"{what} must be a string, not {kind_of(value)}")


def kind_of(value: Any) -> str:
    """What a JSON value is, in a reader's words."""
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


def take(found: dict[str, Any], names: Iterable[str]) -> Any:
    """The value of the first of these keys that is there, taken out; None if there is none."""
    for name in names:
        if name in found:
            return found.pop(name)
    return None
