"""Texts and tags as users have them in Python: lists, generators, columns of pandas and polars."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Number
from typing import Any

from longtail.errors import UsageError
from longtail.label_cells import (
    MISSING,
    SeparatorScan,
    check_not_indicators,
    ordered_labels,
    splitter,
    whole_number,
)


def tag_lists(tags: Any, separator: str | None = None, trained: str | None = None) -> list[list[str]]:
    """A list of label ids a document; a string is split as a cell of a table is, and numbers become strings.

    Args:
        separator: what stands between two labels in one string ("none": each is one label); inferred without it.
        trained: what it is in the training data of a model.
    """
    if getattr(tags, "ndim", 1) != 1:
        raise UsageError(
            f"tags is a table of shape {tags.shape}: pass scipy.sparse.csr_array(tags) if its columns are labels, "
            "or a list of label ids a document"
        )
    if isinstance(tags, (str, Mapping)) or not isinstance(tags, Iterable):
        raise UsageError(f"tags must be a list of label ids a document, not a {type(tags).__name__}")
    rows = list(tags)
    wrong = next((i for i, row in enumerate(rows) if not isinstance(row, Iterable)), None)
    if wrong is not None:
        raise UsageError(f"the tags of document {wrong} are {rows[wrong]!r}, not a list of label ids")
    try:
        split = splitter(separator or SeparatorScan().add_all(rows).separator(trained))
    except ValueError as error:
        raise UsageError(f"{error}; or pass a list of label ids per document") from None
    return [_label_ids(row, number, split) for number, row in enumerate(rows)]


def _label_ids(row: Iterable[Any], number: int, split: Callable[[str], list[str]]) -> list[str]:
    try:
        if isinstance(row, str):
            return split(row)
        tags = ordered_labels(row)
        check_not_indicators(tags)
    except ValueError as error:
        raise UsageError(f"document {number}: {error}") from None
    return [_label_id(tag, number) for tag in tags if not isinstance(tag, str) or tag not in MISSING]


def _label_id(tag: Any, number: int) -> str:
    if isinstance(tag, (str, Number)) and not _is_missing(tag):
        return whole_number(tag) or str(tag)
    raise UsageError(f"the tags of document {number} have {tag!r} among them, which is no label id")


def check_same_rows(texts: Any, tags: Any) -> None:
    """Refuse columns of pandas whose rows have other names: they go by position here, by name in pandas."""
    one: Any = getattr(texts, "index", None)
    other: Any = getattr(tags, "index", None)
    if not hasattr(one, "equals") or not hasattr(other, "equals") or len(one) != len(other):
        return
    if not one.equals(other):
        raise UsageError(
            "the rows of the texts and of the tags have different index values, so which tags belong to a text is "
            "not clear: take both from one data frame in one order, or pass texts.tolist() and tags.tolist() if "
            "their positions agree"
        )


def text_column(source: Any) -> Any:
    """What ``Documents.of`` takes: a column of texts may have gaps and numbers, which become strings here."""
    if isinstance(source, (str, Mapping)) or getattr(source, "ndim", 1) != 1:
        return source
    if is_sparse(source) or not isinstance(source, Iterable):
        return source
    return ["" if _is_missing(row) else str(row) if isinstance(row, Number) else row for row in source]


def _is_missing(value: Any) -> bool:
    # None and what a pandas column has for it: NaN, which alone differs from itself, or NA of its string columns.
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and value != value)


def is_sparse(source: Any) -> bool:
    """Whether it is one of scipy's sparse matrices."""
    # Asked of the object, so that a list of strings does not pay for importing scipy.
    return hasattr(source, "tocsr")
