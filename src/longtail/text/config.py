"""How texts become features: one frozen configuration, checked when it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from longtail.errors import ConfigError
from longtail.text.stemming import stem_languages

MAX_ORDER = 8

SHORT = 250
"""Texts of this many characters on average, or fewer, are short: titles, queries, names."""
SHORT_TITLE = 125
"""Titles of this many characters on average, or fewer, have character n-grams beside a longer text; longer titles
have enough words."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TextConfig:
    """The settings of ``TfidfFeatures``."""

    kind: Literal["word", "wordpiece"] = "word"
    """Tokens are whole words, or pieces of words from a vocabulary of limited size."""

    ngrams: tuple[int, int] = (1, 1)
    """The shortest and the longest n-gram of tokens that is a term."""

    char_ngrams: tuple[int, int] | Literal["auto"] | None = None
    """The shortest and the longest n-gram of characters within a word (its ends marked by a space), as a second
    group of columns beside the words; none: no such group; auto: n-grams of 3 and 4 if texts are short, where
    they help most and cost least."""

    char_fields: Literal["auto", "title", "all"] = "auto"
    """Which fields have character n-grams where title and text have rows of their own; auto: all, unless
    ``char_ngrams`` is auto and only titles are short."""

    title_share: float | Literal["auto"] | None = None
    """A document that has both a title and a text is this share of its title's row and the rest to 1 of its text's
    row, so that titles do not drown in long texts; auto: the share with which the labels of similar training
    documents agree most; none: title and text are read as one text."""

    stem: str | None = None
    """The Snowball stemmer for words, by its language (``english``, ``german``, ...); None: no stemming."""

    lowercase: bool = True
    """Whether capitals count as small letters."""

    nfkc: bool = True
    """Whether compatible forms of a character (full width, ligatures) count as one."""

    min_token_length: int = 1
    """Shorter words are skipped; an ideograph is a word whatever its length."""

    min_df: int = 1
    """A term must be in at least this many documents."""

    max_df: float = 1.0
    """A term must be in at most this share of the documents."""

    max_features: int | None = None
    """At most this many columns a group: those of the most frequent terms."""

    sublinear_tf: bool = False
    """Whether a count c weighs 1 + ln(c)."""

    norm: Literal["l2", "none"] = "l2"
    """Whether rows are scaled to length one."""

    wordpiece_vocab_size: int = 32_000
    """How many pieces are learned if ``kind`` is ``wordpiece``."""

    def for_texts(self, texts: Sequence[str]) -> TextConfig:
        """The same settings with what is ``auto`` decided by these texts, one a document."""
        alone = replace(self, title_share=None)
        if self.char_ngrams != "auto":
            return alone
        short = sum(map(len, texts)) <= SHORT * len(texts)
        return replace(alone, char_ngrams=(3, 4) if short else None)

    def for_fields(self, titles: Sequence[str], texts: Sequence[str]) -> TextConfig:
        """The same with what is ``auto`` about characters decided by titles and texts of the same documents."""
        fields = "all" if self.char_fields == "auto" else self.char_fields
        if self.char_ngrams != "auto":
            return replace(self, char_fields=fields)
        own = sum(map(len, titles)) <= SHORT_TITLE * sum(map(bool, titles))
        both = sum(map(len, titles)) + sum(map(len, texts)) <= SHORT * len(titles)
        if self.char_fields == "auto" and not both:
            fields = "title"
        found = (3, 4) if both or (own and fields == "title") else None
        return replace(self, char_ngrams=found, char_fields=fields)

    def __post_init__(self) -> None:
        _one_of("kind", self.kind, ("word", "wordpiece"))
        _one_of("norm", self.norm, ("l2", "none"))
        _check_range("ngrams", self.ngrams)
        if self.char_ngrams is not None and self.char_ngrams != "auto":
            _check_range("char_ngrams", self.char_ngrams)
        for name in ("min_token_length", "min_df", "max_features", "wordpiece_vocab_size"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"'{name}' must be at least 1, not {value}")
        if not 0.0 < self.max_df <= 1.0:
            raise ConfigError(f"'max_df' is a share above 0 and up to 1 of the documents, not {self.max_df}")
        _one_of("char_fields", self.char_fields, ("auto", "title", "all"))
        if isinstance(self.title_share, (int, float)) and not 0.0 <= self.title_share <= 1.0:
            raise ConfigError(f"'title_share' must be from 0 to 1, auto or none, not {self.title_share}")
        if self.stem is not None:
            if self.kind != "word":
                raise ConfigError("'stem' is for whole words: set kind = 'word' as well")
            _check_stemmer(self.stem)


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ConfigError(f"'{name}' must be one of {', '.join(map(repr, allowed))}, not {value!r}")


def _check_range(name: str, value: tuple[int, int]) -> None:
    if len(value) != 2 or not 1 <= value[0] <= value[1] <= MAX_ORDER:
        raise ConfigError(
            f"'{name}' must be two lengths between 1 and {MAX_ORDER}, as in (1, 2), not {value}"
        )


def _check_stemmer(language: str) -> None:
    languages = stem_languages()
    if language not in languages:
        raise ConfigError(f"'stem' must be one of {', '.join(languages)}, not {language!r}")
