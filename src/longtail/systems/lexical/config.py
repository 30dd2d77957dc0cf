"""Settings of the lexical matcher."""

from __future__ import annotations

from dataclasses import dataclass, field

from longtail.systems.base import SystemConfig
from longtail.text.config import TextConfig


@dataclass(frozen=True, kw_only=True, slots=True)
class LexicalConfig(SystemConfig):
    """Settings of the lexical matcher."""

    text: TextConfig = field(default_factory=lambda: TextConfig(kind="wordpiece", sublinear_tf=True))
    """How texts and label names become features."""
