"""TF-IDF features of prepared data: a folder per settings, with the vocabulary and the rows of documents."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from scipy.sparse import csr_array

from longtail.config import to_dict
from longtail.errors import UsageError
from longtail.text.config import TextConfig
from longtail.text.feature_store import FeatureStore, TfidfSettings
from longtail.text.spill import Spill, mapped_rows
from longtail.text.tfidf import TfidfFeatures
from longtail.types import Dataset

FOLDER = "features"


def key_of(settings: TfidfSettings) -> str:
    """The name of the folder of these settings."""
    plain = [to_dict(settings.config), list(settings.fields), list(settings.label_texts)]
    return hashlib.sha256(orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def write_features(train: Dataset, settings: TfidfSettings, folder: Path) -> None:
    """Learn the vocabulary and write it with the rows of the training documents, in bounded memory."""
    folder.mkdir(parents=True)
    spill = Spill(folder)
    features, _ = FeatureStore(train.documents, train.Y, spill).fit_tfidf(*settings)
    features.save(folder)
    spill.tidy()


@dataclass(frozen=True, slots=True, eq=False)
class PreparedFeatures:
    """The features of a prepared training part.

    Attributes:
        root: the prepared folder.
        settings: the settings of each folder of features, in plain form, by its name.
        known_fingerprint: of the training part.
        data: the training part itself, once it is made.
    """

    root: Path
    settings: dict[str, Any]
    known_fingerprint: str
    data: list[Dataset] = field(default_factory=list)

    def tfidf(
        self, config: TextConfig, fields: Sequence[str], label_texts: Sequence[str]
    ) -> tuple[TfidfFeatures, csr_array]:
        """Vocabulary and rows for these settings; an error if they were not prepared."""
        wanted = TfidfSettings(config, tuple(fields), tuple(label_texts))
        key = key_of(wanted)
        if key not in self.settings:
            raise UsageError(self._differing(wanted))
        folder = self.root / FOLDER / key
        features = TfidfFeatures.load(_Plain(folder))
        return features, mapped_rows(folder, features.n_columns)

    def _differing(self, wanted: TfidfSettings) -> str:
        """The sentence for settings that were not prepared, with those that differ least."""
        own = described(wanted)
        sets = [[name for name in own if own[name] != other.get(name)] for other in self.settings.values()]
        differing = min(sets, key=len, default=[])
        names = f" (other {', '.join(differing)})" if differing else ""
        return (
            f"{self.root} was prepared for other text settings{names}: run longtail prepare again with the system "
            "and settings of this training, or train from the data itself"
        )

    def fingerprint(self, data: Dataset) -> str | None:
        """The fingerprint of the training part; None if ``data`` is not that part as it was prepared."""
        own = self.data[0] if self.data else None
        same = own is not None and data.labels is own.labels and data.Y is own.Y
        return self.known_fingerprint if same else None


def described(settings: TfidfSettings) -> dict[str, Any]:
    """Settings in plain form."""
    texts = hashlib.sha256(orjson.dumps(list(settings.label_texts))).hexdigest()
    return {**to_dict(settings.config), "fields": list(settings.fields), "label texts": texts}


class _Plain:
    """A folder whose files are read as they are."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, name: str) -> Path:
        return self._folder / name
