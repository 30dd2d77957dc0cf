"""A system from one function, texts to vectors: the shortest way to an encoder of one's own.

The vector of a label is the mean of the vectors of its training documents and of its text. The score of a label is
the cosine of its vector and the document's. A subclass names itself and says what the vector of a text is::

    class HouseEncoder(TextVectors):
        name = "house-encoder"

        def vectors(self, texts):
            return encoder.encode(texts)
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from longtail.errors import ConfigError, ModelError, TrainingError
from longtail.run import Run
from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.shortlist.candidates import Candidates
from longtail.shortlist.dense import Dense
from longtail.shortlist.scoring import score
from longtail.storage import VerifiedFolder
from longtail.storage.schema import ArraySet, array
from longtail.systems.base import Capabilities, System, SystemConfig
from longtail.text.feature_store import FeatureStore
from longtail.text.shared_features import FeatureReader, FeatureWriter
from longtail.types import Dataset, Documents, Edges

FILE = "label_vectors.safetensors"
AT_ONCE = 2**22
"""Scores that are in memory at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelVectors(ArraySet):
    """Unit vectors; a label without documents and text has a vector of zeros."""

    vectors: np.ndarray = array("float32", "labels", "width")


class TextVectors(System):
    """Compares the vector of a document with those of the labels; subclasses give the vectors."""

    capabilities: ClassVar[Capabilities] = Capabilities(label_text=True, cold_labels=True)
    candidate_features: ClassVar[tuple[str, ...]] = ("cosine",)

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(SystemConfig):
        """Settings of label vectors."""

        label_text: float = 1.0
        """How many training documents the text of a label counts as in its vector; 0: not at all."""

        def __post_init__(self) -> None:
            # With slots=True the class is made anew, so super() without arguments would not find it.
            SystemConfig.__post_init__(self)
            if not 0 <= self.label_text < float("inf"):
                raise ConfigError(f"'label_text' must be a number of at least 0, not {self.label_text}")

    config: Config
    label_vectors_: LabelVectors
    _compare: Dense

    @abstractmethod
    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of texts, of any length and the same width each time: [texts, width]."""

    def _unit_vectors(self, texts: Sequence[str]) -> np.ndarray:
        """Checked and divided by their length, float32."""
        found = np.asarray(self.vectors(texts), np.float32)
        if found.ndim != 2 or len(found) != len(texts) or not np.isfinite(found).all():
            raise TrainingError(
                f"'{self.name}' must give a finite vector for each of {len(texts)} texts, "
                f"not an array of the shape {found.shape}"
                + ("" if np.isfinite(found).all() else " with values that are not finite")
            )
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        unit: np.ndarray = found / np.where(lengths > 0, lengths, 1)
        return unit

    def _fit(self, train: Dataset, valid: Dataset | None, run: Run, store: FeatureStore) -> None:
        with run.phase("vectors"):
            documents = self._unit_vectors(store.texts(self.config.fields))
            sums: np.ndarray = train.Y.T.astype(np.float32) @ documents
            named = [row for row, text in enumerate(train.labels.texts) if text.strip()]
            if named and self.config.label_text:
                texts = self._unit_vectors([train.labels.texts[row] for row in named])
                sums[named] += np.float32(self.config.label_text) * texts
            lengths = np.linalg.norm(sums, axis=1, keepdims=True)
            self._use(LabelVectors((sums / np.where(lengths > 0, lengths, 1)).astype(np.float32)))

    def _use(self, labels: LabelVectors) -> None:
        self.label_vectors_ = labels
        self._compare = Dense.of(labels.vectors, np.zeros(len(labels.vectors), np.float32), relu=False)

    def _encode(
        self,
        documents: Documents,
        store: FeatureStore,
        *,
        revealed: csr_array | None = None,
        edges: Edges | None = None,
    ) -> EncodedDocuments:
        vectors, labels = self._unit_vectors(store.texts(self.config.fields)), self.label_vectors_.vectors
        if vectors.shape[1] != labels.shape[1]:
            raise ModelError(
                f"'{self.name}' gives vectors of {vectors.shape[1]} numbers, but the model was trained with "
                f"{labels.shape[1]}: load it with the package that trained it, or train it again"
            )
        return _Compared(vectors, labels, self._compare)

    def _save_parts(self, folder: Path, features: FeatureWriter) -> None:
        self.label_vectors_.save(folder / FILE)

    def _load_parts(self, folder: VerifiedFolder, features: FeatureReader) -> None:
        self._use(LabelVectors.load(folder.path(FILE), labels=len(self.labels_)))


class _Compared(EncodedDocuments):
    """Documents and labels as unit vectors; each document is compared by itself, alone as among others."""

    def __init__(self, documents: np.ndarray, labels: np.ndarray, compare: Dense) -> None:
        self.documents, self.labels, self.compare = documents, labels, compare
        self.readable: np.ndarray = np.asarray(documents.any(axis=1))

    def shortlist(self, size: int) -> Candidates:
        step = max(1, AT_ONCE // max(len(self.labels), 1))
        blocks = [self.documents[start : start + step] for start in range(0, len(self.documents), step)]
        best = Candidates.stack([Candidates.from_dense(self.compare(block), size) for block in blocks])
        found = score(self.documents, best, self.labels)
        return found.where(found.scores > 0)

    def features(self, candidates: Candidates) -> np.ndarray:
        found: np.ndarray = score(self.documents, candidates, self.labels).scores[:, None]
        return found
