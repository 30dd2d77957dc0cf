"""A dual encoder: documents and labels as vectors of one transformer that is trained on both.

The score of a label combines the cosine to its text, the product with a vector that was learned from its documents,
and votes of the nearest training documents.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from scipy.sparse import csr_array

from longtail.errors import UnsupportedError
from longtail.run import Run
from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.storage import VerifiedFolder, read_json, write_json
from longtail.storage.checks import of_file
from longtail.systems.base import Capabilities, System
from longtail.systems.dual.config import DualConfig
from longtail.text.feature_store import FeatureStore
from longtail.text.shared_features import FeatureReader, FeatureWriter
from longtail.training.needs_torch import needs_torch
from longtail.types import Dataset, Documents, Edges

if TYPE_CHECKING:
    from longtail.systems.dual.predict import Predictor
    from longtail.training.encoder_comparison import Comparison

DESCRIPTION, LABELS_FILE, VOTERS_FILE = "dual.json", "labels.safetensors", "voters.safetensors"


class Dual(System):
    """Label texts whose meaning counts; labels without training documents."""

    name: ClassVar[str] = "dual"
    capabilities: ClassVar[Capabilities] = Capabilities(
        label_text=True,
        cold_labels=True,
        new_labels=True,
        zero_shot=True,
        validation=True,
        probabilities=True,
    )
    candidate_features: ClassVar[tuple[str, ...]] = ("score", "cosine", "label_vector", "votes")
    typical_ms: ClassVar[float] = 8.0
    Config = DualConfig

    config: DualConfig
    predictor_: Predictor

    @property
    def needs_text(self) -> bool:
        """Label texts alone are enough."""
        return False

    def _fit(self, train: Dataset, valid: Dataset | None, run: Run, store: FeatureStore) -> None:
        with needs_torch("training 'dual'", "encoders"):
            from longtail.systems.dual import train as training

        self.predictor_ = training.train(train, valid, self.config, run, store)

    def _encode(
        self,
        documents: Documents,
        store: FeatureStore,
        *,
        revealed: csr_array | None = None,
        edges: Edges | None = None,
    ) -> EncodedDocuments:
        return self.predictor_.encode(store, self.config.fields)

    def export_encoders(self) -> list[Comparison]:
        """Not possible yet."""
        self._check_fitted()
        raise UnsupportedError("an encoder whose vectors are the mean of its tokens runs in torch alone")

    def _add_labels(self, texts: list[str], examples: Dataset | None) -> None:
        from longtail.systems.dual.new_labels import with_new_labels

        self.predictor_ = with_new_labels(self.predictor_, texts, examples, self.config)

    def _save_parts(self, folder: Path, features: FeatureWriter) -> None:
        predictor = self.predictor_
        write_json(folder / DESCRIPTION, {"weights": predictor.weights.to_json()})
        predictor.encoder.save(folder)
        predictor.labels.save(folder / LABELS_FILE)
        if predictor.voters is not None:
            predictor.voters.save(folder / VOTERS_FILE)

    def _load_parts(self, folder: VerifiedFolder, features: FeatureReader) -> None:
        with needs_torch("a model of 'dual'", "encoders"):
            from longtail.blocks.mean_encoder import MeanEncoder
            from longtail.systems.dual.predict import LabelVectors, Predictor, Voters
            from longtail.systems.dual.weights import Weights

        path = folder.path(DESCRIPTION)
        found = read_json(path)
        with of_file(path):
            weights = Weights.read(found.get("weights") if isinstance(found, dict) else None)
        encoder = MeanEncoder.load(folder, self.config.encoder.tokens)
        sizes = {"labels": len(self.labels_), "width": encoder.width}
        labels = LabelVectors.load(folder.path(LABELS_FILE), **sizes)
        voters = None
        if self.config.votes.neighbours:
            voters = Voters.load(folder.path(VOTERS_FILE), **sizes)
        self.predictor_ = Predictor(encoder, labels, voters, weights, self.config.votes)
