"""Settings of the nearest-neighbour classifier."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from longtail.config import at_least_one, at_least_zero
from longtail.errors import ConfigError
from longtail.systems.base import SystemConfig
from longtail.text.config import TextConfig


@dataclass(frozen=True, kw_only=True, slots=True)
class KnnConfig(SystemConfig):
    """Settings of the nearest-neighbour classifier."""

    highlights: ClassVar[tuple[str, ...]] = (
        "fields",
        "neighbours",
        "power",
        "vectors",
        "encoder",
        "search",
        "ef_search",
        "text.kind",
        "text.ngrams",
        "text.stem",
        "text.max_features",
    )

    neighbours: int = 20
    """Nearest training documents whose labels count."""
    power: float = 2.0
    """A neighbour counts with its cosine to this power: 0 counts all alike, more favours the nearest."""
    vectors: Literal["tfidf", "encoder"] = "tfidf"
    """What documents are compared by: their TF-IDF rows (or the feature matrix that the user brings), or vectors of
    a pre-trained encoder."""
    text: TextConfig = field(
        default_factory=lambda: TextConfig(kind="wordpiece", sublinear_tf=True, title_share="auto")
    )
    """How texts become TF-IDF rows."""
    encoder: str = "minilm"
    """The folder of a transformer with its tokenizer, or minilm (vectors encoder)."""
    keep: Literal["copy", "reference"] = "copy"
    """How a model has the encoder: copy: in its folder; reference: by path and sha256, so it must stay in place."""
    search: Literal["exact", "ann"] = "exact"
    """exact: every document is compared (but see exact_below); ann: a graph over encoder vectors (HNSW), faster
    where there are many."""
    exact_below: int = 200_000
    """With fewer training documents than this, a TF-IDF row is compared with all that share a term with it;
    otherwise with those of its rarest terms, which misses some neighbours and takes far less time."""
    ef_search: int = 400
    """Candidates that the search of the graph keeps at a time: more finds better neighbours, slower."""

    def __post_init__(self) -> None:
        SystemConfig.__post_init__(self)
        at_least_one(self, "neighbours", "ef_search")
        at_least_zero(self, "exact_below")
        if not 0 <= self.power <= 100:
            raise ConfigError(f"'power' must be from 0 to 100, not {self.power}")
        if self.search == "ann" and self.vectors != "encoder":
            raise ConfigError(
                "'search' = ann needs the vectors of an encoder: set vectors = 'encoder' as well"
            )
