"""What the reader understood of a file: its format, its columns, what separates labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from longtail.data.options import ReadOptions
from longtail.errors import UsageError
from longtail.label_cells import BRACKETS, LISTS, NONE, WHITE_SPACE

_IN_WORDS = {
    NONE: "one per document",
    LISTS: "lists",
    WHITE_SPACE: "separated by white space",
    BRACKETS: "in angle brackets",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Understood:
    """How a file is read; ``separator`` is None where labels are lists or numbers by themselves."""

    path: str
    format: str
    id: str | None = None
    title: str | None = None
    texts: tuple[str, ...] = ()
    labels: str | None = None
    separator: str | None = None
    others: tuple[str, ...] = ()
    has_columns: bool = True
    delimiter: str | None = None
    encoding: str = "utf-8"
    label_file: str | None = None

    def line(self) -> str:
        """One line for people."""
        kind = self.format if self.encoding == "utf-8" else f"{self.format} in {self.encoding}"
        pieces = [f"{self.path}: {kind}"]
        if self.has_columns:
            labels = self.labels or "none"
            if self.labels is not None and self.separator is not None:
                labels += f" ({_IN_WORDS.get(self.separator, f'separated by {self.separator!r}')})"
            pieces += [
                f"id: {self.id or 'row number'}",
                f"title: {self.title or 'none'}",
                f"text: {' + '.join(self.texts) or 'none'}",
                f"labels: {labels}",
            ]
            if self.others:
                pieces.append(
                    f"not read: {', '.join(name or 'a column without a name' for name in self.others)}"
                )
        if self.label_file is not None:
            pieces.append(f"label texts: {self.label_file}")
        return "; ".join(pieces)

    def remembered(self) -> dict[str, Any]:
        """What a model keeps, to read documents in the same way."""
        if not self.has_columns:
            return {}
        return {
            "title": self.title,
            "texts": list(self.texts),
            "labels": self.labels,
            "separator": self.separator,
        }


def as_trained(options: ReadOptions, remembered: Mapping[str, Any]) -> ReadOptions:
    """The options with the columns that a model was trained on, unless columns are named in them."""
    if not remembered:
        return options
    options = replace(options, trained_separator=remembered.get("separator"))
    if "texts" in remembered and options.title_column is None and not options.text_columns:
        options = replace(
            options,
            title_column=remembered.get("title"),
            text_column=tuple(remembered.get("texts", ())),
            remembered=True,
        )
    if options.label_column is None and options.with_labels:
        label_column = remembered.get("labels")
        options = replace(options, label_column=label_column, remembered_labels=label_column is not None)
    return options


def lacking(there: list[str], options: ReadOptions, what: str) -> str | None:
    """The sentence for a file without a column that the model was trained on; None if it has them all."""
    trained = [name for name in (options.title_column, *options.text_columns) if name is not None]
    missing = [name for name in trained if name not in there]
    if not options.remembered or not missing:
        return None
    return (
        f"there is no {what} {missing[0]!r}: the model was trained on {', '.join(trained)}, the file has "
        f"{', '.join(there)}; name the {what}s to read with --title-column and --text-column"
    )


def checked(value: object) -> dict[str, Any]:
    """What a model folder says of its training data, or a UsageError."""
    if not isinstance(value, dict):
        raise UsageError("'reading' must be an object")
    texts = value.get("texts", [])
    single = (value.get(key) for key in ("title", "labels", "separator"))
    if (
        not isinstance(texts, list)
        or not all(isinstance(name, str) for name in texts)
        or not all(name is None or (isinstance(name, str) and name) for name in single)
    ):
        raise UsageError("'reading' must name columns by strings")
    return value
