"""GNN-XML (Zong and Sun, 2020) as a system: keyword graphs, label clusters, rankers within clusters."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from scipy.sparse import csr_array

from longtail.errors import ModelIntegrityError
from longtail.run import Run
from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.storage import VerifiedFolder, read_json, write_json
from longtail.systems.base import Capabilities, System
from longtail.systems.gnnxml.config import GnnxmlConfig
from longtail.systems.gnnxml.documents import DocumentGraphs
from longtail.systems.gnnxml.packing import Packed
from longtail.systems.gnnxml.predict import FEATURES, EncodedGraphs, Predictor
from longtail.text.feature_store import FeatureStore
from longtail.text.shared_features import FeatureReader, FeatureWriter
from longtail.text.tfidf import TfidfFeatures
from longtail.training.needs_torch import needs_torch
from longtail.types import Dataset, Documents, Edges


class Gnnxml(System):
    """Long documents: each is a graph of its keywords, and labels are ranked within clusters."""

    name: ClassVar[str] = "gnnxml"
    capabilities: ClassVar[Capabilities] = Capabilities(validation=True, probabilities=True)
    candidate_features: ClassVar[tuple[str, ...]] = FEATURES
    typical_ms: ClassVar[float] = 3.0
    Config = GnnxmlConfig

    config: GnnxmlConfig
    features_: TfidfFeatures
    documents_: DocumentGraphs
    predictor_: Predictor

    def _fit(self, train: Dataset, valid: Dataset | None, run: Run, store: FeatureStore) -> None:
        with needs_torch("training 'gnnxml'"):
            from longtail.systems.gnnxml.train import train as train_parts

        trained = train_parts(train, valid, self.config, run, store)
        self.features_, self.documents_ = trained.features, trained.documents
        self.predictor_ = trained.predictor

    def _encode(
        self,
        documents: Documents,
        store: FeatureStore,
        *,
        revealed: csr_array | None = None,
        edges: Edges | None = None,
    ) -> EncodedDocuments:
        graphs, features = self.documents_.graphs(store.texts(self.config.fields))
        packed = Packed.of(graphs, features, weighted=self.config.network.edge_weights)
        return EncodedGraphs(self.predictor_, store.tfidf(self.features_, self.config.fields), packed)

    def _save_parts(self, folder: Path, features: FeatureWriter) -> None:
        write_json(folder / "gnnxml.json", {"features": features.save(self.features_)})
        self.documents_.save(folder / "documents")
        self.predictor_.save(folder)

    def _load_parts(self, folder: VerifiedFolder, features: FeatureReader) -> None:
        parts = read_json(folder.path("gnnxml.json"))
        documents = folder.sub("documents")
        if not isinstance(parts, dict) or documents is None:
            raise ModelIntegrityError(
                f"{folder.root}: the names of text features or the keyword graphs are missing"
            )
        self.features_ = features.load(parts.get("features"))
        self.documents_ = DocumentGraphs.load(documents)
        self.predictor_ = Predictor.load(
            folder,
            self.config,
            n_labels=len(self.labels_),
            n_words=self.features_.n_columns,
            width=self.documents_.width,
        )
