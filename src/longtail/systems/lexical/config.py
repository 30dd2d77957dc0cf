"""Settings of the lexical matcher."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from longtail.config import at_least_zero
from longtail.systems.base import SystemConfig
from longtail.text.config import TextConfig


@dataclass(frozen=True, kw_only=True, slots=True)
class LexicalConfig(SystemConfig):
    """Settings of the lexical matcher."""

    highlights: ClassVar[tuple[str, ...]] = (
        "fields",
        "text.kind",
        "text.ngrams",
        "text.char_ngrams",
        "text.stem",
        "text.min_df",
        "text.wordpiece_vocab_size",
    )

    text: TextConfig = field(
        default_factory=lambda: TextConfig(kind="wordpiece", sublinear_tf=True, title_share="auto")
    )
    """How texts and label names become features."""
    exact_below: int = 200_000
    """With fewer names than this, a document is compared with all that share a term with it; otherwise with those
    of its rarest terms, which misses some labels and takes far less time."""

    def __post_init__(self) -> None:
        SystemConfig.__post_init__(self)
        at_least_zero(self, "exact_below")
