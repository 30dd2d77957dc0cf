"""How a file is to be understood where it does not say so itself."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from longtail.errors import UsageError

ID_NAMES = ("id", "uid", "doc_id")
TITLE_NAMES = ("title",)
TEXT_NAMES = ("text", "content", "body", "abstract")

_ESCAPES = {r"\n": "\n", r"\t": "\t"}
"""Characters that are hard to type in a shell."""

SPLITS = 10
"""The XMC repository's small data sets come with ten train/test splits."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadOptions:
    """What the reader cannot know; None means that it guesses.

    Args:
        id_column: the column (or JSON key) of the document's id; guessed by its name, as the others.
        title_column: the column of the title.
        text_column: the column of the text, or several, which are joined in their order.
        label_column: the column of the labels.
        label_separator: what stands between two labels in one string; ``none`` if each string is one label,
            ``json`` for lists; inferred from all strings if it is not given.
        language: the language of label texts to take from a vocabulary that has several.
        split: which of the ten train/test splits of an XMC data set.
        encoding: the encoding of text files; a byte order mark of UTF-16 is recognised without it.
        labels: the file of labels, instead of the one beside the documents.
        with_labels: whether the labels of documents are read; a prediction does without them.
        trained_separator: what separates labels in the training data of a model.
        remembered: whether title and text columns are those that a model was trained on, so that all of them
            must be there.
        remembered_labels: whether the label column is that of a model's training data.
    """

    id_column: str | None = None
    title_column: str | None = None
    text_column: str | tuple[str, ...] | None = None
    label_column: str | None = None
    label_separator: str | None = None
    language: str | None = None
    split: int = 0
    encoding: str = "utf-8"
    labels: str | None = None
    with_labels: bool = True
    trained_separator: str | None = None
    remembered: bool = False
    remembered_labels: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.split < SPLITS:
            raise UsageError(f"split must be between 0 and {SPLITS - 1}, not {self.split}")
        if self.label_separator == "":
            raise UsageError("label_separator must not be empty")
        if self.label_separator in _ESCAPES:
            object.__setattr__(self, "label_separator", _ESCAPES[self.label_separator])
        try:
            codecs.lookup(self.encoding)
        except LookupError:
            raise UsageError(
                f"there is no encoding {self.encoding!r}; usual ones are utf-8, utf-16, cp1252 and latin-1"
            ) from None

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The columns of the text that are named."""
        if self.text_column is None:
            return ()
        return (self.text_column,) if isinstance(self.text_column, str) else tuple(self.text_column)

    @property
    def id_names(self) -> tuple[str, ...]:
        """The names an id may have, the first that is there counts."""
        return ID_NAMES if self.id_column is None else (self.id_column,)

    @property
    def title_names(self) -> tuple[str, ...]:
        """The names a title may have."""
        return TITLE_NAMES if self.title_column is None else (self.title_column,)

    @property
    def text_names(self) -> tuple[str, ...]:
        """The names a text may have."""
        return self.text_columns or TEXT_NAMES


DEFAULTS = ReadOptions()
