"""GNN-XML (Zong and Sun, 2020) as a system: keyword graphs, clusters of labels, rankers within clusters."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np

from longtail.errors import ModelIntegrityError
from longtail.run import Run
from longtail.storage import VerifiedFolder, write_arrays
from longtail.systems.base import Capabilities, System
from longtail.systems.common.label_texts import LabelTexts
from longtail.systems.common.needs_torch import needs_torch
from longtail.systems.common.prior import Prior
from longtail.systems.common.witness import Witness
from longtail.systems.gnnxml.config import GnnxmlConfig
from longtail.systems.gnnxml.documents import DocumentGraphs
from longtail.systems.gnnxml.folded import Folded, Queries
from longtail.systems.gnnxml.packing import Packed, unit_sums
from longtail.systems.gnnxml.rankers import Rankers
from longtail.systems.gnnxml.weights import Weights
from longtail.text.tfidf import TfidfFeatures
from longtail.types import Dataset, Documents, TopK


class Gnnxml(System):
    """Long documents: each is a graph of its keywords, and labels are found cluster by cluster."""

    name: ClassVar[str] = "gnnxml"
    capabilities: ClassVar[Capabilities] = Capabilities(label_text=True, validation=True)
    Config = GnnxmlConfig

    config: GnnxmlConfig
    features_: TfidfFeatures
    documents_: DocumentGraphs
    folded_: Folded
    witness_: Witness | None
    _prior: Prior | None = None

    def _fit(self, train: Dataset, valid: Dataset | None, run: Run) -> None:
        with needs_torch("training 'gnnxml'"):
            from longtail.systems.gnnxml.learning import learn

        trained = learn(train, valid, self.config, run)
        assert trained.rows.features is not None
        self.features_, self.documents_ = trained.rows.features, trained.documents
        self.folded_, self.witness_ = trained.folded, trained.witness
        self._prior = None

    def _predict_batch(self, documents: Documents, k: int) -> TopK:
        queries = self._queries(documents)
        top = self.folded_(queries).top_k(k)
        unknown = (np.diff(queries.X.indptr) == 0) & ~queries.embeddings.any(axis=1)
        if not unknown.any():
            return top
        prior = self._prior = self._prior or Prior(self.label_counts_, self.facts_.documents)
        return prior.where(unknown, top)

    def _queries(self, documents: Documents) -> Queries:
        texts = documents.joined(self.config.fields)
        graphs, features = self.documents_.graphs(texts)
        packed = Packed.of(graphs, features, weighted=self.config.network.edge_weights)
        X = self.features_.transform(texts)
        linear = None if self.witness_ is None else self.witness_(Documents.from_features(X))
        return Queries(X, packed, unit_sums(graphs.documents, features), linear)

    def _save_parts(self, folder: Path) -> None:
        (folder / "features").mkdir()
        self.features_.save(folder / "features")
        (folder / "documents").mkdir()
        self.documents_.save(folder / "documents")
        if self.witness_ is not None:
            self.witness_.save(folder / "linear")
        write_arrays(folder / "label-texts.safetensors", self.folded_.texts.arrays())
        write_arrays(folder / "weights.safetensors", self.folded_.weights.arrays())
        write_arrays(folder / "rankers.safetensors", self.folded_.rankers.arrays())

    def _load_parts(self, folder: VerifiedFolder) -> None:
        text, documents = folder.sub("features"), folder.sub("documents")
        if text is None or documents is None:
            raise ModelIntegrityError(f"{folder.root}: the text features or keyword graphs are missing")
        self.features_ = TfidfFeatures.load(text)
        self.documents_ = DocumentGraphs.load(documents)
        n_labels, n_words, width = len(self.labels_), self.features_.n_columns, self.documents_.width
        weights = Weights.load(
            folder.path("weights.safetensors"), self.config.network, width=width, n_labels=n_labels
        )
        rankers = Rankers.load(
            folder.path("rankers.safetensors"),
            n_features=n_words + (width if self.config.ranker.embedding else 0),
            clusters=weights.clusters,
        )
        texts = LabelTexts.load(folder.path("label-texts.safetensors"), n_tokens=n_words, n_labels=n_labels)
        self.witness_ = Witness.load(folder.sub("linear"), self.labels_)
        if self.witness_ is not None and self.witness_.tree.width_ != n_words:
            raise ModelIntegrityError(f"{folder.root}: the linear tree has other features than the rankers")
        self.folded_ = Folded(weights, rankers, texts, self.config, n_words=n_words, width=width)
        self._prior = None
