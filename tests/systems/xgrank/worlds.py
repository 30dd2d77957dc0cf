"""Small worlds: the planted data, an encoder that spells it, and settings that make every part work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from longtail.config import from_dict
from longtail.run import Run
from longtail.systems.xgrank.config import XgrankConfig
from longtail.systems.xgrank.predict import EncodedTexts
from longtail.systems.xgrank.ranking_model import RankingModel
from longtail.systems.xgrank.system import Xgrank
from longtail.systems.xgrank.train import TrainingContext
from longtail.text.feature_store import FeatureStore
from longtail.training.matrices import TrainingMatrices
from longtail.types import Dataset, Documents


def settings(place: Path, **more: Any) -> dict[str, Any]:
    """Settings for a fit of a second or two; ``more`` replaces whole groups."""
    return {
        "encoder": {"names": [str(place)], "tokens": 24, "frozen": None},
        "text": {"kind": "word"},
        "clusters": {"size": 4, "beam": 4},
        "labels": {"width": 16},
        "train": {"epochs": 2, "lr": 0.001, "row_lr": 0.02, "batch_size": 32, "watch": "overall"},
        **more,
    }


def config(place: Path, **more: Any) -> XgrankConfig:
    return from_dict(XgrankConfig, settings(place, **more))


def context(place: Path, train: Dataset, **more: Any) -> TrainingContext:
    chosen, run, store = config(place, **more), Run(), FeatureStore(train.documents)
    matrices = TrainingMatrices.of(train, chosen.text, chosen.fields, run, store)
    return TrainingContext(chosen, train, matrices, store, run)


def store(texts: list[str]) -> FeatureStore:
    return FeatureStore(Documents.of(texts))


def encoded(system: Xgrank, texts: list[str]) -> EncodedTexts:
    return EncodedTexts(system.predictor_, system.predictor_.encode(store(texts)))


def without_clusters(model: RankingModel) -> RankingModel:
    """The same model, which ranks all labels."""
    return RankingModel(model.pooled, model.subwords, model.ranker, None, model.tokens, model.config)
