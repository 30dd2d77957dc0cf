"""GUDN (Wang et al., 2022) as a system: label texts guide the encoder in training, and only then."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from longtail.errors import ModelIntegrityError
from longtail.evaluation.insight import Insight
from longtail.run import Run
from longtail.storage import VerifiedFolder, checks, read_arrays, write_arrays
from longtail.systems.base import Capabilities, System
from longtail.systems.common.label_texts import LabelTexts
from longtail.systems.common.needs_torch import needs_torch
from longtail.systems.common.prior import Prior
from longtail.systems.common.witness import Witness
from longtail.systems.gudn.config import GudnConfig
from longtail.systems.gudn.folded import Folded, Others
from longtail.systems.gudn.semantics import label_semantics
from longtail.systems.gudn.weights import Weights
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords
from longtail.text.tfidf import TfidfFeatures
from longtail.types import Dataset, Documents, TopK

if TYPE_CHECKING:
    from longtail.systems.encoder_comparison import Comparison
    from longtail.systems.gudn.reader import Reader


class Gudn(System):
    """Labels with telling names, and a pre-trained encoder that learns from them what documents are about."""

    name: ClassVar[str] = "gudn"
    capabilities: ClassVar[Capabilities] = Capabilities(label_text=True, validation=True)
    Config = GudnConfig

    config: GudnConfig
    reader_: Reader
    folded_: Folded
    features_: TfidfFeatures | None
    texts_: LabelTexts | None
    witness_: Witness | None
    meaningful_: np.ndarray
    _prior: Prior | None = None

    def _fit(self, train: Dataset, valid: Dataset | None, run: Run) -> None:
        with needs_torch("training 'gudn'", "encoders"):
            from longtail.systems.gudn.learning import learn

        trained = learn(train, valid, self.config, run)
        self.reader_, self.folded_ = trained.reader, trained.folded
        self.features_, self.texts_ = trained.features, trained.texts
        self.witness_, self.meaningful_ = trained.witness, trained.meaningful
        self._prior = None

    def _predict_batch(self, documents: Documents, k: int) -> TopK:
        texts = documents.joined(self.config.fields)
        features, known = self.reader_(texts)
        X = None if self.features_ is None else self.features_.transform(texts)
        linear = None if self.witness_ is None else self.witness_(documents)
        top = self.folded_(features, Others(X, self.texts_, linear), k).top_k(k)
        if known.all():
            return top
        prior = self._prior = self._prior or Prior(self.label_counts_, self.facts_.documents)
        return prior.where(~known, top)

    def insights(self) -> list[Insight]:
        """How many label names mean something, which the guide lives on."""
        self._check_fitted()
        return [label_semantics(self.meaningful_, self.label_counts_)]

    def export_encoders(self) -> list[Comparison]:
        """Have them run in ONNX Runtime."""
        from longtail.systems.common.encoder_export import EncoderInUse, to_graphs

        self._check_fitted()
        return to_graphs([EncoderInUse(self.reader_.pooled, self.reader_.subwords)], self.labels_)

    def _save_parts(self, folder: Path) -> None:
        encoder = self.reader_.encoder
        encoder.folder.save(folder / "encoder", weights=False)
        write_arrays(folder / "encoder.safetensors", encoder.arrays())
        self.reader_.pooled.save_graph(folder)
        write_arrays(folder / "weights.safetensors", self.folded_.weights.arrays())
        write_arrays(folder / "label-names.safetensors", {"meaningful": self.meaningful_.astype(np.uint8)})
        if self.texts_ is not None and self.features_ is not None:
            (folder / "features").mkdir()
            self.features_.save(folder / "features")
            write_arrays(folder / "label-texts.safetensors", self.texts_.arrays())
        if self.witness_ is not None:
            self.witness_.save(folder / "linear")

    def _load_parts(self, folder: VerifiedFolder) -> None:
        with needs_torch("a model of 'gudn'", "encoders"):
            from longtail.blocks.transformer import Transformer
            from longtail.systems.gudn.reader import Reader

        config, n_labels = self.config, len(self.labels_)
        files = EncoderFolder.load(folder.sub("encoder"))
        encoder = Transformer.from_arrays(files, read_arrays(folder.path("encoder.safetensors")))
        self.reader_ = Reader(encoder, Subwords(files, config.encoder.tokens), config.encoder.layers)
        self.reader_.pooled.load_graph(folder)
        path = folder.path("weights.safetensors")
        weights = Weights.load(path, n_labels=n_labels, n_features=self.reader_.n_features)
        self.folded_ = Folded(weights, config)
        path = folder.path("label-names.safetensors")
        with checks.of_file(path):
            found = checks.named(read_arrays(path), "meaningful", "which label names mean something")
            self.meaningful_ = checks.vector(found, np.uint8, "'meaningful'", size=n_labels).astype(bool)
        self._load_label_texts(folder)
        self.witness_ = Witness.load(folder.sub("linear"), self.labels_)

    def _load_label_texts(self, folder: VerifiedFolder) -> None:
        self.features_, self.texts_ = None, None
        if "label-texts.safetensors" not in folder:
            return
        text = folder.sub("features")
        if text is None:
            raise ModelIntegrityError(f"{folder.root}: the text features are missing")
        self.features_ = TfidfFeatures.load(text)
        self.texts_ = LabelTexts.load(
            folder.path("label-texts.safetensors"),
            n_tokens=self.features_.n_columns,
            n_labels=len(self.labels_),
        )
