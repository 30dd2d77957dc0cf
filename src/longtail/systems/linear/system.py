"""The linear label tree: Parabel (WWW 2018), Bonsai (ML 2020), XR-Linear (PECOS, JMLR 2022).

Labels that share documents share a branch. At each node, linear classifiers score the children of a document, and a
beam search follows the best few. If wanted, scores are then passed along a graph of label correlations (GAME of
ECLARE, WWW 2021).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from scipy.sparse import csr_array

from longtail.errors import ModelIntegrityError
from longtail.explain import Asked, Context, LabelExplanation
from longtail.run import Run
from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.shortlist.tree_weights import TreeWeights
from longtail.storage import VerifiedFolder, read_json, write_json
from longtail.systems.base import Capabilities, System
from longtail.systems.feature_rows import check_kind
from longtail.systems.linear.config import LinearConfig
from longtail.systems.linear.predict import CorrelationGraph, LinearDocuments, LinearPredictor
from longtail.systems.linear.train import correlations, matrix_rows, train_trees, training_matrices
from longtail.text.feature_store import FeatureStore
from longtail.text.shared_features import FOLDER, FeatureReader, FeatureWriter
from longtail.text.tfidf import TfidfFeatures
from longtail.types import Dataset, Documents, Edges

DESCRIPTION = "linear.json"
GRAPH_FILE = "graph.safetensors"


class LinearTree(System):
    """Trains in seconds to minutes on a laptop, on texts or on a plain sparse matrix."""

    name: ClassVar[str] = "linear"
    capabilities: ClassVar[Capabilities] = Capabilities(features=True, label_text=True)
    candidate_features: ClassVar[tuple[str, ...]] = ("log_score", "score")
    typical_ms: ClassVar[float] = 0.3
    Config = LinearConfig

    config: LinearConfig
    features_: TfidfFeatures | None
    width_: int
    predictor_: LinearPredictor

    def _fit(self, train: Dataset, valid: Dataset | None, run: Run, store: FeatureStore) -> None:
        with run.phase("features"):
            self.features_, X, Y = training_matrices(train, self.config, store)
        self.width_ = X.shape[1]
        trees = train_trees(X, Y, self.config, run)
        graph = correlations(train.Y, self.config, run)
        self.predictor_ = LinearPredictor(trees, graph, self.config, len(train.labels))

    @property
    def predicts_cold_labels(self) -> bool:
        """Only if their texts are training documents."""
        return self.config.label_text != "none"

    def _encode(
        self,
        documents: Documents,
        store: FeatureStore,
        *,
        revealed: csr_array | None = None,
        edges: Edges | None = None,
    ) -> EncodedDocuments:
        if self.features_ is None:
            X = matrix_rows(documents, self.config)
        else:
            X = store.tfidf(self.features_, self.config.fields)
        return LinearDocuments(self.predictor_, X)

    def _explain(self, asked: Asked) -> list[LabelExplanation]:
        """Exactly, by the paths of the labels."""
        from longtail.systems.linear.explain import explain

        return super()._explain(asked) if self.features_ is None else explain(self, self.features_, asked)

    def _context(self, asked: Asked) -> list[Context]:
        """Labels that pass on their scores, and label names."""
        from longtail.systems.linear.explain import context

        return context(self, asked)

    def _check_documents(self, documents: Documents) -> None:
        super()._check_documents(documents)
        check_kind(documents, self.width_ if self.features_ is None else None)

    def _save_parts(self, folder: Path, features: FeatureWriter) -> None:
        trees, graph = self.predictor_.trees, self.predictor_.graph
        name = None if self.features_ is None else features.save(self.features_)
        write_json(folder / DESCRIPTION, {"features": name, "width": self.width_, "trees": len(trees)})
        for number, tree in enumerate(trees):
            tree.weights.save(folder / f"tree-{number}.safetensors")
        if graph is not None:
            CorrelationGraph.of(graph).save(folder / GRAPH_FILE)

    def _load_parts(self, folder: VerifiedFolder, features: FeatureReader) -> None:
        found = read_json(folder.path(DESCRIPTION))
        self.width_ = int(found["width"])
        self.features_ = _read_features(found, folder, features)
        if self.features_ is not None and self.features_.n_columns != self.width_:
            raise ModelIntegrityError(f"{folder.root}: the text features are not those of this model")
        wanted = self.config.tree.trees
        n_trees = found.get("trees") if wanted == "auto" else wanted
        if not isinstance(n_trees, int) or n_trees < 1:
            raise ModelIntegrityError(f"{folder.root}: {n_trees!r} is not a number of trees")
        n_labels = len(self.labels_)
        trees = [
            TreeWeights.load(folder.path(f"tree-{number}.safetensors"), features=self.width_, labels=n_labels)
            for number in range(n_trees)
        ]
        graph: csr_array | None = None
        if self.config.game.mix:
            rows = CorrelationGraph.load(folder.path(GRAPH_FILE), rows=n_labels, columns=n_labels)
            graph = rows.matrix(n_labels)
        self.predictor_ = LinearPredictor(trees, graph, self.config, n_labels)


def _read_features(
    found: dict[str, Any], folder: VerifiedFolder, features: FeatureReader
) -> TfidfFeatures | None:
    """The vocabulary; None if the model was trained on a feature matrix."""
    if "text" not in found:
        return None if found["features"] is None else features.load(found["features"])
    # Format 1 has the only vocabulary in the folder itself.
    only = folder.sub(FOLDER)
    if found["text"] is not (only is not None):
        raise ModelIntegrityError(f"{folder.root}: the text features are not those of this model")
    return None if only is None else TfidfFeatures.load(only)
