"""Which column (or JSON key) is the id, the title, the text and the labels; doubt is an error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from longtail.data import column_names
from longtail.data.column_names import plain_name
from longtail.data.options import ReadOptions


class Roles(NamedTuple):
    """Names of columns; several texts are joined in their order here. ``others`` are not read."""

    id: str | None = None
    title: str | None = None
    texts: tuple[str, ...] = ()
    labels: str | None = None
    others: tuple[str, ...] = ()


def find_roles(names: Sequence[str], options: ReadOptions) -> Roles:
    """The roles of these columns: those that the options name (if they are there), the others by their usual names.

    ValueError where two columns could be meant, with both of them and the option that says which.
    """
    named = {options.id_column, options.title_column, options.label_column, *options.text_columns}
    free: dict[str, list[str]] = {}
    for name in names:
        if name not in named:
            free.setdefault(plain_name(name), []).append(name)

    def given(name: str | None) -> str | None:
        return name if name in names else None

    id_ = given(options.id_column) if options.id_column is not None else _first(free, column_names.ID_NAMES)
    title = (
        given(options.title_column)
        if options.title_column is not None
        else None
        if options.remembered
        else _only(free, column_names.TITLE_NAMES, "title")
    )
    texts = (
        tuple(name for name in options.text_columns if name in names)
        if options.text_columns
        else ()
        if options.remembered
        else _texts(free)
    )
    labels = given(options.label_column)
    if options.label_column is None and options.with_labels:
        labels = _usual_or_other(free, column_names.LABEL_NAMES, column_names.OTHER_LABEL_NAMES, "label")
    used = {id_, title, labels, *texts}
    return Roles(id_, title, texts, labels, tuple(name for name in names if name not in used))


def no_text(names: Sequence[str], what: str) -> str:
    """The sentence for documents without any title or text; ``what`` is columns or keys."""
    return (
        f"none of the {what} {', '.join(names)} is the text; name it with --text-column "
        "(text_column in Python)"
    )


def _first(free: dict[str, list[str]], usual: Sequence[str]) -> str | None:
    key = next((name for name in usual if name in free), None)
    return None if key is None else key if key in free[key] else free[key][0]


def _only(free: dict[str, list[str]], usual: Sequence[str], option: str) -> str | None:
    found = [name for key in usual for name in free.get(key, ())]
    if len(found) > 1:
        raise ValueError(_doubt(found, option))
    return found[0] if found else None


def _usual_or_other(
    free: dict[str, list[str]], usual: Sequence[str], other: Sequence[str], option: str
) -> str | None:
    return _only(free, usual, option) or _only(free, other, option)


def _texts(free: dict[str, list[str]]) -> tuple[str, ...]:
    found = [free[key] for key in column_names.TEXT_NAMES if key in free]
    twice = next((names for names in found if len(names) > 1), None)
    if twice is not None:
        raise ValueError(_doubt(twice, "text"))
    if found:
        return tuple(names[0] for names in found)
    other = _only(free, column_names.OTHER_TEXT_NAMES, "text")
    return () if other is None else (other,)


def _doubt(found: Sequence[str], option: str) -> str:
    if len(set(found)) < len(found):
        return f"there are two columns {found[0]!r}; rename one"
    meaning = {"label": "the labels", "title": "the title", "text": "the text"}[option]
    return (
        f"{' and '.join(map(repr, found))} may each be {meaning}: say which with --{option}-column "
        f"({option}_column in Python)"
    )
