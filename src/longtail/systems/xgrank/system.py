"""X-GRank (Xiong et al., 2022): group-wise label ranking with a pre-trained encoder."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from scipy.sparse import csr_array

from longtail.errors import ModelIntegrityError
from longtail.evaluation.insight import Insight
from longtail.run import Run
from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.storage import VerifiedFolder, read_json, write_json
from longtail.systems.base import Capabilities, System
from longtail.systems.xgrank.config import XgrankConfig
from longtail.text.feature_store import FeatureStore
from longtail.text.shared_features import FeatureReader, FeatureWriter
from longtail.training.needs_torch import needs_torch
from longtail.types import Dataset, Documents, Edges

if TYPE_CHECKING:
    from longtail.systems.xgrank.predict import Predictor
    from longtail.training.encoder_comparison import Comparison


CURVE_FILE = "calibration.safetensors"
"""Model folders of earlier versions have one."""


class Xgrank(System):
    """A pre-trained encoder with a group-wise ranking loss: for texts whose meaning is not in single words."""

    name: ClassVar[str] = "xgrank"
    capabilities: ClassVar[Capabilities] = Capabilities(
        label_text=True, cold_labels=True, validation=True, probabilities=True
    )
    candidate_features: ClassVar[tuple[str, ...]] = ("margin", "retriever")
    Config = XgrankConfig

    config: XgrankConfig
    predictor_: Predictor
    recall_: dict[str, float]

    def _fit(self, train: Dataset, valid: Dataset | None, run: Run, store: FeatureStore) -> None:
        with needs_torch("training 'xgrank'", "encoders"):
            from longtail.systems.xgrank import train as training

        trained = training.train(train, valid, self.config, run, store)
        self.predictor_, self.recall_ = trained.predictor, trained.recall

    def _encode(
        self,
        documents: Documents,
        store: FeatureStore,
        *,
        revealed: csr_array | None = None,
        edges: Edges | None = None,
    ) -> EncodedDocuments:
        from longtail.systems.xgrank.predict import EncodedTexts

        return EncodedTexts(self.predictor_, self.predictor_.encode(store))

    def insights(self) -> list[Insight]:
        """The recall of the retriever by the number of labels that it retrieves (Fig. 3)."""
        from longtail.systems.xgrank.recall_insight import recall_insight

        self._check_fitted()
        return [recall_insight(self.recall_)] if self.recall_ else []

    def export_encoders(self) -> list[Comparison]:
        """Have them run in ONNX Runtime."""
        from longtail.training.encoder_export import EncoderInUse, to_graphs

        self._check_fitted()
        encoders = [EncoderInUse(model.pooled, model.subwords) for model in self.predictor_.models]
        return to_graphs(encoders, self.labels_)

    def _save_parts(self, folder: Path, features: FeatureWriter) -> None:
        predictor = self.predictor_
        for number, model in enumerate(predictor.models):
            model.save(folder / f"model-{number}")
        if not predictor.curve.is_logistic:
            predictor.curve.save(folder / CURVE_FILE)
        facts = {
            "models": len(predictor.models),
            "combine": predictor.combine,
            "pooling": predictor.models[0].pooled.pooling,
            "recall": self.recall_,
        }
        write_json(folder / "xgrank.json", facts)

    def _load_parts(self, folder: VerifiedFolder, features: FeatureReader) -> None:
        with needs_torch("a model of 'xgrank'", "encoders"):
            from longtail.systems.xgrank.margin_curve import MarginCurve
            from longtail.systems.xgrank.predict import Predictor
            from longtail.systems.xgrank.ranking_model import RankingModel

        path = folder.path("xgrank.json")
        # Models of versions that had no other pooling do not name it.
        described = read_json(path)
        match {"pooling": "cls", **described} if isinstance(described, dict) else described:
            case {
                "models": int(number),
                "combine": "zscore" | "softmax" as combine,
                "pooling": "cls" | "mean" as pooling,
                "recall": dict(recall),
            } if number >= 1 and all(isinstance(v, float) and math.isfinite(v) for v in recall.values()):
                pass
            case _:
                raise ModelIntegrityError(f"{path} does not describe a model")
        models = [
            RankingModel.load(folder.sub(f"model-{i}"), self.config, len(self.labels_), pooling)
            for i in range(number)
        ]
        if len({model.clusters is None for model in models}) > 1:
            raise ModelIntegrityError(f"{folder.root}: some models have clusters, others have none")
        curve = MarginCurve.logistic()
        if CURVE_FILE in folder.files:
            curve = MarginCurve.load(folder.path(CURVE_FILE))
        self.predictor_ = Predictor(
            models, combine, curve, self.config.clusters.beam, self.config.clusters.nearest
        )
        self.recall_ = recall
