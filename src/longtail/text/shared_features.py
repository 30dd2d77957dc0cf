"""The vocabularies of a model folder: each is saved once, whatever number of systems uses it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from longtail.errors import ModelIntegrityError
from longtail.storage import VerifiedFolder
from longtail.text.tfidf import TfidfFeatures

FOLDER = "features"
"""Where they are below the model folder."""


@dataclass(frozen=True, slots=True)
class FeatureWriter:
    """Saves vocabularies below the model folder ``root``."""

    root: Path

    def save(self, features: TfidfFeatures) -> str:
        """The name under which the vocabulary is saved; equal ones have one name and one copy."""
        name = features.digest[:16]
        folder = self.root / FOLDER / name
        if not folder.exists():
            folder.mkdir(parents=True)
            features.save(folder)
        return name


@dataclass(frozen=True, slots=True)
class FeatureReader:
    """Loads vocabularies of a model folder; those who ask for the same name get the same object."""

    root: VerifiedFolder
    _loaded: dict[str, TfidfFeatures] = field(default_factory=dict)

    def load(self, name: object) -> TfidfFeatures:
        """The vocabulary of that name."""
        if not isinstance(name, str):
            raise ModelIntegrityError(f"{self.root.root}: {name!r} is not the name of text features")
        if name not in self._loaded:
            folder = self.root.sub(f"{FOLDER}/{name}")
            if folder is None:
                raise ModelIntegrityError(f"{self.root.root}: the text features '{name}' are missing")
            self._loaded[name] = TfidfFeatures.load(folder)
        return self._loaded[name]
