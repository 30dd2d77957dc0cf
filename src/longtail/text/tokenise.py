"""From texts to words, as the configuration says."""

from __future__ import annotations

from collections.abc import Sequence

from longtail.text.codepoints import encode
from longtail.text.config import TextConfig
from longtail.text.tokens import Tokens, split


def tokenise(texts: Sequence[str], config: TextConfig) -> Tokens:
    """The words of each text."""
    points = encode(texts, lowercase=config.lowercase, nfkc=config.nfkc)
    return split(points, min_length=config.min_token_length)
