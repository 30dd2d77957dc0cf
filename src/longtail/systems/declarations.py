"""What a system declares beside its methods: capabilities, common settings, facts of its training data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from longtail.errors import ConfigError
from longtail.types import FIELDS


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a system can do; declared, never probed."""

    features: bool = False
    """Learns from a plain feature matrix as well as from text."""
    label_text: bool = False
    """Uses the texts of the labels."""
    cold_labels: bool = False
    """Predicts labels without training documents, by their texts."""
    revealed_labels: bool = False
    """Makes use of labels that are already known for a document to tag (no system predicts them again)."""
    auxiliary_edges: bool = False
    """Uses links between documents and labels that come with the data."""
    new_labels: bool = False
    """Takes labels after training."""
    new_documents: bool = False
    """Takes and forgets training documents after training."""
    zero_shot: bool = False
    """Needs no training documents: label texts are enough."""
    validation: bool = False
    """Uses validation data: to choose the best epoch, to fit a re-ranker."""
    probabilities: bool = False
    """Scores are meant as probabilities (as configured by default)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemConfig:
    """Settings that every system has."""

    renamed: ClassVar[Mapping[str, str]] = {}
    """Former settings by dotted name: their new name, or a sentence that says what to do instead."""
    highlights: ClassVar[tuple[str, ...]] = ()
    """Dotted names of the settings worth changing, which ``longtail info SYSTEM`` shows first; none named: all."""

    fields: tuple[str, ...] = FIELDS
    """Which fields make a document's text: title, text or both."""
    seed: int = 0
    """Same data, same settings, same seed: same model."""
    calibrate: Literal["isotonic", "platt", "none"] = "isotonic"
    """How scores become probabilities: isotonic regression by label frequency, or Platt scaling, on validation or
    held-out training documents; none: scores stay those of the system, and nothing is held out for it."""

    def __post_init__(self) -> None:
        if not self.fields or len(set(self.fields)) < len(self.fields) or not set(self.fields) <= set(FIELDS):
            raise ConfigError(f"'fields' must be some of {', '.join(FIELDS)}, not {list(self.fields)}")
        if not 0 <= self.seed < 2**32:
            raise ConfigError(f"'seed' must be from 0 to {2**32 - 1}, not {self.seed}")


@dataclass(frozen=True, slots=True)
class TrainingFacts:
    """What a model remembers of its training data: sizes, the fingerprint, validation metrics."""

    documents: int
    fingerprint: str
    metrics: Mapping[str, Any] = field(default_factory=dict)
    validation: Mapping[str, Any] = field(default_factory=dict)
    """Metrics by label frequency on the validation documents: ``documents``, ``held_out``, ``k`` and ``bins``."""
    reading: Mapping[str, Any] = field(default_factory=dict)
    """The columns and the label separator of the files, and a sample of the documents' texts as hashes."""
