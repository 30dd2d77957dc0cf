"""GUDN (Wang et al., 2022) as a system: label texts guide the encoder in training, and only there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from scipy.sparse import csr_array

from longtail.errors import ModelIntegrityError
from longtail.evaluation.insight import Insight
from longtail.run import Run
from longtail.storage import VerifiedFolder, read_arrays, read_json, write_arrays, write_json
from longtail.systems.base import Capabilities, System
from longtail.systems.gudn.config import GudnConfig
from longtail.systems.gudn.label_names import LabelNames
from longtail.systems.gudn.predict import FEATURES, EncodedTexts, Predictor, Weights
from longtail.text.feature_store import FeatureStore
from longtail.text.pretrained import EncoderFolder
from longtail.text.shared_features import FeatureReader, FeatureWriter
from longtail.text.subwords import Subwords
from longtail.training.needs_torch import needs_torch
from longtail.types import Dataset, Documents, Edges

if TYPE_CHECKING:
    from longtail.blocks.transformer import Pooling
    from longtail.systems.gudn.text_encoder import TextEncoder
    from longtail.training.encoder_comparison import Comparison

ENCODER, WEIGHTS, NAMES = "encoder.safetensors", "weights.safetensors", "label-names.safetensors"
DESCRIPTION = "gudn.json"
"""Model folders of earlier versions have none: their features are [CLS] states."""


class Gudn(System):
    """A pre-trained encoder, fine-tuned under the guidance of label texts: for labels with meaningful names."""

    name: ClassVar[str] = "gudn"
    capabilities: ClassVar[Capabilities] = Capabilities(label_text=True, validation=True, probabilities=True)
    candidate_features: ClassVar[tuple[str, ...]] = FEATURES
    Config = GudnConfig

    config: GudnConfig
    encoder_: TextEncoder
    predictor_: Predictor
    names_: LabelNames

    def _fit(self, train: Dataset, valid: Dataset | None, run: Run, store: FeatureStore) -> None:
        with needs_torch("training 'gudn'", "encoders"):
            from longtail.systems.gudn.train import fit

        trained = fit(train, valid, self.config, run, store)
        self.encoder_, self.predictor_, self.names_ = trained.encoder, trained.predictor, trained.names

    def _encode(
        self,
        documents: Documents,
        store: FeatureStore,
        *,
        revealed: csr_array | None = None,
        edges: Edges | None = None,
    ) -> EncodedTexts:
        tokens = store.tokens(self.encoder_.subwords, self.config.fields)
        return EncodedTexts(self.encoder_(tokens), self.encoder_.readable(tokens), self.predictor_)

    def insights(self) -> list[Insight]:
        """How many label names are meaningful, which the guide depends on."""
        self._check_fitted()
        return [self.names_.insight(self.label_counts_)]

    def export_encoders(self) -> list[Comparison]:
        """Have the encoder run in ONNX Runtime."""
        from longtail.training.encoder_export import EncoderInUse, to_graphs

        self._check_fitted()
        return to_graphs([EncoderInUse(self.encoder_.pooled, self.encoder_.subwords)], self.labels_)

    def _save_parts(self, folder: Path, features: FeatureWriter) -> None:
        encoder = self.encoder_.encoder
        encoder.folder.save(folder / "encoder", weights=False)
        write_arrays(folder / ENCODER, encoder.stored_arrays())
        self.encoder_.pooled.save_graph(folder)
        self.predictor_.weights.save(folder / WEIGHTS)
        self.names_.save(folder / NAMES)
        write_json(folder / DESCRIPTION, {"pooling": self.encoder_.pooled.pooling})

    def _load_parts(self, folder: VerifiedFolder, features: FeatureReader) -> None:
        with needs_torch("a model of 'gudn'", "encoders"):
            from longtail.blocks.pooled_states import PooledStates
            from longtail.blocks.transformer import Transformer
            from longtail.systems.gudn.text_encoder import TextEncoder

        config, n_labels = self.config, len(self.labels_)
        files = EncoderFolder.load(folder.sub("encoder"))
        encoder = Transformer.from_arrays(files, read_arrays(folder.path(ENCODER)))
        states = PooledStates(encoder, config.encoder.layers, _pooling(folder))
        self.encoder_ = TextEncoder(states, Subwords(files, config.encoder.tokens))
        self.encoder_.pooled.load_graph(folder)
        weights = Weights.load(folder.path(WEIGHTS), labels=n_labels, features=self.encoder_.n_features)
        self.predictor_ = Predictor(weights, self.label_counts_ > 0, config.clusters.beam)
        self.names_ = LabelNames.load(folder.path(NAMES), labels=n_labels)


def _pooling(folder: VerifiedFolder) -> Pooling:
    if DESCRIPTION not in folder.files:
        return "cls"
    path = folder.path(DESCRIPTION)
    match read_json(path):
        case {"pooling": "cls"}:
            return "cls"
        case {"pooling": "mean"}:
            return "mean"
        case _:
            raise ModelIntegrityError(f"{path} does not describe a model")
