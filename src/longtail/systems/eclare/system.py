"""ECLARE (Mittal et al., WWW 2021) as a system."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from scipy.sparse import csr_array

from longtail.explain import Asked, Context, LabelExplanation
from longtail.run import Run
from longtail.storage import VerifiedFolder, read_json, write_json
from longtail.storage.sparse import SparseRows
from longtail.systems.base import Capabilities, System
from longtail.systems.eclare.config import EclareConfig
from longtail.systems.eclare.predict import CANDIDATE_FEATURES, Encoded, Predictor, Weights
from longtail.systems.label_facts import NeighbourSource, strongest
from longtail.text.feature_store import FeatureStore
from longtail.text.shared_features import FeatureReader, FeatureWriter
from longtail.text.tfidf import TfidfFeatures
from longtail.training.needs_torch import needs_torch
from longtail.types import Dataset, Documents, Edges

BY_ROWS = "game_by_rows"
"""Model folders of earlier versions do not have it: GAME is on graphs as they are."""


class Eclare(System):
    """Short texts, labels with text, correlated labels: strong on rare and on new labels."""

    name: ClassVar[str] = "eclare"
    capabilities: ClassVar[Capabilities] = Capabilities(
        label_text=True, cold_labels=True, new_labels=True, validation=True
    )
    candidate_features: ClassVar[tuple[str, ...]] = CANDIDATE_FEATURES
    typical_ms: ClassVar[float] = 0.4
    Config = EclareConfig

    config: EclareConfig
    features_: TfidfFeatures
    label_texts_: csr_array
    models_: list[Predictor]

    def _fit(self, train: Dataset, valid: Dataset | None, run: Run, store: FeatureStore) -> None:
        with needs_torch("training 'eclare'"):
            from longtail.systems.eclare.train import train_models

        inputs, weights = train_models(train, valid, self.config, run, store)
        assert inputs.features is not None
        self.features_, self.label_texts_ = inputs.features, inputs.Z
        self.models_ = [Predictor(each, self.config) for each in weights]

    def _encode(
        self,
        documents: Documents,
        store: FeatureStore,
        *,
        revealed: csr_array | None = None,
        edges: Edges | None = None,
    ) -> Encoded:
        return Encoded(store.tfidf(self.features_, self.config.fields), self.models_)

    def _explain(self, asked: Asked) -> list[LabelExplanation]:
        """By the tokens of the text, exactly up to the units that are on."""
        from longtail.systems.eclare.explain import explain

        return explain(self, asked)

    def _context(self, asked: Asked) -> list[Context]:
        """Label names and neighbours in the label graph."""
        from longtail.systems.eclare.explain import context

        return context(self, asked)

    def label_neighbours(self, label: int, k: int = 10) -> list[tuple[int, float]]:
        """Its neighbours in the label graph."""
        return strongest(self.models_[0].weights.graph[[label]], label, k)

    def neighbour_source(self, label: int) -> NeighbourSource:
        """The label graph."""
        return "graph"

    def _add_labels(self, texts: list[str], examples: Dataset | None) -> None:
        from longtail.systems.eclare.new_labels import NewLabels

        known = self.label_texts_
        new = NewLabels.of(texts, examples, self.features_, known, self.config)
        self.models_ = [
            Predictor(new.join(model.weights, known, self.config), self.config) for model in self.models_
        ]
        self.label_texts_ = new.appended_to(known)

    def _save_parts(self, folder: Path, features: FeatureWriter) -> None:
        facts = {"features": features.save(self.features_), BY_ROWS: self.config.game.by_rows}
        write_json(folder / "eclare.json", facts)
        SparseRows.of(self.label_texts_).save(folder / "label-texts.safetensors")
        for number, model in enumerate(self.models_):
            model.weights.save(folder / f"model-{number}.safetensors")

    def _load_parts(self, folder: VerifiedFolder, features: FeatureReader) -> None:
        facts = read_json(folder.path("eclare.json"))
        self.features_ = features.load(facts["features"])
        if BY_ROWS not in facts:
            self.config = replace(self.config, game=replace(self.config.game, by_rows=False))
        vocabulary, labels = self.features_.n_columns, len(self.labels_)
        path = folder.path("label-texts.safetensors")
        self.label_texts_ = SparseRows.load(path, rows=labels, columns=vocabulary).matrix(vocabulary)
        paths = [folder.path(f"model-{number}.safetensors") for number in range(self.config.models)]
        self.models_ = [
            Predictor(Weights.load(path, vocabulary=vocabulary, labels=labels), self.config) for path in paths
        ]
