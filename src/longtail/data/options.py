"""How a file is to be understood where it does not say so itself."""

from __future__ import annotations

from dataclasses import dataclass

from longtail.errors import UsageError

ID_NAMES = ("id", "uid", "doc_id")
TITLE_NAMES = ("title",)
TEXT_NAMES = ("text", "content", "body", "abstract")
LABEL_NAMES = ("labels", "tags", "subjects", "categories", "subject_uris")

SPLITS = 10
"""The XMC repository's small data sets come with ten train/test splits."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadOptions:
    """What the reader cannot know; None means that it guesses.

    Args:
        id_column: the column (or JSON key) of the document's id; guessed among id, uid, doc_id.
        title_column: the column of the title; guessed: title.
        text_column: the column of the text; guessed among text, content, body, abstract.
        label_column: the column of the labels; guessed among labels, tags, subjects, categories, subject_uris.
        label_separator: what stands between two labels in one cell; guessed among ``;``, ``|``, ``,`` and
            (for addresses) white space.
        language: the language of label texts to take from a vocabulary that has several.
        split: which of the ten train/test splits of an XMC data set.
    """

    id_column: str | None = None
    title_column: str | None = None
    text_column: str | None = None
    label_column: str | None = None
    label_separator: str | None = None
    language: str | None = None
    split: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.split < SPLITS:
            raise UsageError(f"split must be between 0 and {SPLITS - 1}, not {self.split}")
        if self.label_separator == "":
            raise UsageError("label_separator must not be empty")

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
        return TEXT_NAMES if self.text_column is None else (self.text_column,)

    @property
    def label_names(self) -> tuple[str, ...]:
        """The names the labels may have."""
        return LABEL_NAMES if self.label_column is None else (self.label_column,)


DEFAULTS = ReadOptions()
