"""Settings of how a document becomes a KeyGraph with a vector a vertex."""

from __future__ import annotations

from dataclasses import dataclass

from longtail.errors import ConfigError
from longtail.systems.common.settings import at_least_one, at_least_zero
from longtail.text.stemming import stem_languages

LIGHT = "light"


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentsConfig:
    """Keywords, entities and sentence embeddings (Sec. 3.1)."""

    keywords: int = 10
    """Keywords of a document by TextRank, at most."""
    entities: int = 4
    """Names of a document (capitalised words within a sentence) that are keywords as well, at most; 0: none."""
    window: int = 4
    """Two words are neighbours in TextRank's graph if they are among this many words in a row, those that cannot
    be keywords not counted."""
    damping: float = 0.85
    """How often TextRank follows an edge instead of beginning anew at any word."""
    common_above: float = 0.3
    """Words and names in more than this share of the training documents cannot be keywords."""
    min_documents: int = 2
    """Words and names in fewer training documents are unknown."""
    max_words: int = 100_000
    """At most this many words are known, the most frequent ones."""
    stem: str | None = None
    """The Snowball stemmer for words, by its language (english, german, ...); none: no stemming."""
    encoder: str = LIGHT
    """What makes a vector of a sentence: light (its words' TF-IDF in few dimensions), or a transformer: the
    folder that it and its tokenizer are in, or minilm."""
    width: int = 512
    """Length of a light vector at most; a transformer has its own."""
    cache: str | None = None
    """A folder where a transformer's vectors of training sentences are kept, so that each is made once; none:
    they are not kept."""

    def __post_init__(self) -> None:
        at_least_one(self, "keywords", "min_documents", "max_words", "width")
        at_least_zero(self, "entities")
        if self.window < 2:
            raise ConfigError(f"'window' must be at least 2 words, not {self.window}")
        if not 0 <= self.damping < 1:
            raise ConfigError(f"'damping' must be from 0 to below 1, not {self.damping}")
        if not 0 < self.common_above <= 1:
            raise ConfigError(f"'common_above' is a share above 0 and up to 1, not {self.common_above}")
        if not self.encoder:
            raise ConfigError(f"'encoder' must be {LIGHT} or the folder of a transformer")
        if self.cache is not None and self.encoder == LIGHT:
            raise ConfigError("'cache' keeps the vectors of a transformer: light ones are made anew quicker")
        if self.stem is not None and self.stem not in stem_languages():
            raise ConfigError(f"'stem' must be one of {', '.join(stem_languages())}, not {self.stem!r}")
