"""GalaXC (Saini et al., WWW 2021) as a system: documents and labels are nodes of one graph."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import ClassVar, Literal, Self

import numpy as np
from scipy.sparse import csr_array

from longtail.errors import ModelIntegrityError, UsageError
from longtail.evaluation.insight import Insight
from longtail.explain import Asked, Context
from longtail.run import Run
from longtail.shortlist.ann import AnnIndex
from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.shortlist.layered import LayeredWeights
from longtail.storage import VerifiedFolder, checks, read_arrays, read_json, write_arrays, write_json
from longtail.systems.base import Capabilities, System
from longtail.systems.galaxc.attention_insight import attention_by_frequency
from longtail.systems.galaxc.auxiliary_edges import AuxiliaryEdges
from longtail.systems.galaxc.config import GalaxcConfig
from longtail.systems.galaxc.initial import Initial
from longtail.systems.galaxc.node_index import NodeIndex, no_pairs, rows_of
from longtail.systems.galaxc.predict import FEATURES, GraphDocuments, Predictor, Queries, Weights
from longtail.text.feature_store import FeatureStore
from longtail.text.shared_features import FeatureReader, FeatureWriter
from longtail.text.tfidf import TfidfFeatures
from longtail.training.matrices import document_rows
from longtail.training.needs_torch import needs_torch
from longtail.types import Dataset, Documents, DocumentsLike, Edges


class Galaxc(System):
    """Graph convolutions over documents and labels with label-wise attention; uses revealed labels and edges."""

    name: ClassVar[str] = "galaxc"
    capabilities: ClassVar[Capabilities] = Capabilities(
        features=True,
        label_text=True,
        cold_labels=True,
        revealed_labels=True,
        auxiliary_edges=True,
        validation=True,
    )
    candidate_features: ClassVar[tuple[str, ...]] = FEATURES
    Config = GalaxcConfig

    config: GalaxcConfig
    features_: TfidfFeatures | None
    initial_: Initial
    predictor_: Predictor
    n_columns_: int
    _edges: tuple[Edges, NodeIndex, AuxiliaryEdges] | None = None

    # --- training and prediction --------------------------------------------------------------------------

    def _fit(self, train: Dataset, valid: Dataset | None, run: Run, store: FeatureStore) -> None:
        with needs_torch("training 'galaxc'"):
            from longtail.systems.galaxc.train import train as train_galaxc

        trained = train_galaxc(train, valid, self.config, run, store)
        self.features_, self.n_columns_ = trained.matrices.features, trained.matrices.X.shape[1]
        self.initial_, self.predictor_ = trained.initial, trained.predictor

    def _encode(
        self,
        documents: Documents,
        store: FeatureStore,
        *,
        revealed: csr_array | None = None,
        edges: Edges | None = None,
    ) -> EncodedDocuments:
        return GraphDocuments(self.predictor_, self._queries(documents, store, revealed, edges))

    def _context(self, asked: Asked) -> list[Context]:
        """The near training documents that have the label, and labels among the neighbours in the graph."""
        from longtail.systems.galaxc.explain import context

        return context(self, asked)

    def _queries(
        self, documents: Documents, store: FeatureStore, revealed: csr_array | None, edges: Edges | None
    ) -> Queries:
        vectors, graph = self._vectors(documents, store), self.config.graph
        linked = None
        if edges is not None and graph.auxiliary != "none":
            linked = self._auxiliary_edges(edges).table(
                documents.ids, min(graph.neighbours, self.predictor_.nodes.graph.n_nodes)
            )
        nodes = self.predictor_.nodes.named_nodes_of(documents.ids, vectors)
        return Queries(vectors, nodes, linked, revealed)

    def _auxiliary_edges(self, edges: Edges) -> AuxiliaryEdges:
        """The edges ready for lookup; those of the last call are kept, as the batches of one call share them."""
        nodes = self.predictor_.nodes
        kept = self._edges
        if kept is None or kept[0] is not edges or kept[1] is not nodes:
            kept = self._edges = (edges, nodes, nodes.auxiliary_edges(edges, self.labels_.ids))
        # Not the attribute: another thread may have replaced it.
        return kept[2]

    def _vectors(self, documents: Documents, store: FeatureStore) -> np.ndarray:
        """Initial embeddings [n, D]."""
        fields = self.config.fields
        if self.features_ is None:
            return self.initial_(document_rows(None, documents, fields), [])
        return self.initial_(store.tfidf(self.features_, fields), store.texts(fields))

    def _check_documents(self, documents: Documents) -> None:
        super()._check_documents(documents)
        if (documents.features is None) != (self.features_ is not None):
            kind = ("text", "feature rows") if self.features_ is not None else ("feature rows", "text")
            raise UsageError(f"the model was trained on {kind[0]}, but these documents have {kind[1]}")
        if documents.features is not None and documents.features.shape[1] != self.n_columns_:
            raise UsageError(
                f"the feature rows have {documents.features.shape[1]} columns, but the model was trained on "
                f"{self.n_columns_}"
            )

    # --- the graph ----------------------------------------------------------------------------------------

    def add_documents(self, documents: DocumentsLike) -> Self:
        """Add documents to the graph without training: they can be neighbours of new documents from now on.

        The documents of a Dataset are joined with their labels and vote for them; others are joined with their
        nearest nodes. Labels that the model does not have are ignored. Classifiers do not change.
        """
        self._check_fitted()
        data = documents if isinstance(documents, Dataset) else None
        documents = Documents.of(documents)
        self._check_documents(documents)
        nodes = self.predictor_.nodes
        width = min(self.config.graph.neighbours, nodes.graph.n_nodes)
        known = next((id_ for id_ in documents.ids if nodes.has(id_)), None)
        if known is not None:
            raise UsageError(f"a document with the id {known!r} is in the graph already: ids must differ")
        twice = next((id_ for id_, n in Counter(documents.ids).items() if n > 1), None)
        if twice is not None:
            raise UsageError(f"two documents have the id {twice!r}: ids must differ")
        if not len(documents):
            return self
        Y = no_pairs(len(documents), len(self.labels_))
        if data is not None:
            Y = csr_array(data.relabelled(self.labels_.extended(data.labels.ids)).Y[:, : len(self.labels_)])
            Y.data[:] = 1
        vectors = self._vectors(documents, FeatureStore(documents))
        near, _ = nodes.near(vectors, width, np.full(len(vectors), -1))
        counts = np.diff(Y.indptr)
        neighbours = np.full((len(documents), max(width, int(counts.max(initial=0)))), -1, np.int32)
        rows = np.repeat(np.arange(len(documents)), counts)
        neighbours[rows, np.arange(Y.nnz) - Y.indptr[rows]] = nodes.graph.node_of_label[Y.indices]
        neighbours[counts == 0, :width] = near[counts == 0]
        self.predictor_ = self.predictor_.with_nodes(
            nodes.with_documents(documents.ids, vectors, neighbours, Y)
        )
        return self

    def similar_documents(self, documents: DocumentsLike, *, k: int = 10) -> list[list[tuple[str, float]]]:
        """The most similar documents of the graph: ids and cosines of initial embeddings, the best first."""
        self._check_fitted()
        _check_k(k)
        documents = Documents.of(documents)
        self._check_documents(documents)
        nodes = self.predictor_.nodes
        vectors = self._vectors(documents, FeatureStore(documents))
        name = dict(zip(nodes.graph.node_of_document.tolist(), nodes.ids, strict=True))
        found: list[list[tuple[str, float]]] = []
        wide = 2 * k
        while True:
            wide = min(wide, nodes.graph.n_nodes)
            near, cosines = nodes.near(vectors, wide, nodes.nodes_of(documents.ids, vectors))
            found = [
                [(name[node], float(c)) for node, c in zip(row, cos, strict=True) if node in name][:k]
                for row, cos in zip(near.tolist(), cosines.tolist(), strict=True)
            ]
            # Labels are among the near nodes: search wider until there are enough documents, or no more nodes.
            short = np.array([len(row) < k for row in found], bool)
            if wide >= nodes.graph.n_nodes or not (short & (near >= 0).all(axis=1)).any():
                return found
            wide *= 4

    def similar_labels(self, labels: list[str], *, k: int = 10) -> list[list[tuple[str, float]]]:
        """The labels of the most similar embeddings: ids and cosines, the best first."""
        self._check_fitted()
        _check_k(k)
        unknown = next((label for label in labels if label not in self.labels_.index), None)
        if unknown is not None:
            raise UsageError(f"the model has no label {unknown!r}")
        rows = np.array([self.labels_.index[label] for label in labels], np.int64)
        near, cosines = self.predictor_.similar_labels(rows, min(k + 1, len(self.labels_)))
        return [
            [
                (self.labels_.ids[i], float(c))
                for i, c in zip(row, cos, strict=True)
                if i >= 0 and i != itself
            ][:k]
            for itself, row, cos in zip(rows.tolist(), near.tolist(), cosines.tolist(), strict=True)
        ]

    def insights(self) -> list[Insight]:
        """The attention of labels to each resolution, by their frequency (Fig. 6)."""
        self._check_fitted()
        attention = self.predictor_.weights.attention
        return [attention_by_frequency(attention, self.label_counts_, self.config.graph)]

    # --- model folders ------------------------------------------------------------------------------------

    def _save_parts(self, folder: Path, features: FeatureWriter) -> None:
        predictor = self.predictor_
        name = None if self.features_ is None else features.save(self.features_)
        graph = {"documents": predictor.nodes.ids, "features": name, "columns": self.n_columns_}
        write_json(folder / "graph.json", graph)
        self.initial_.save(folder / "initial")
        predictor.weights.save(folder / "weights.safetensors")
        predictor.nodes.index.save(folder / "nodes.safetensors")
        if predictor.labels is not None:
            predictor.labels.save(folder / "labels.safetensors")
        if predictor.layered_arrays is not None:
            write_arrays(folder / "encoder.safetensors", predictor.layered_arrays)

    def _load_parts(self, folder: VerifiedFolder, features: FeatureReader) -> None:
        ids, name, self.n_columns_ = _graph_description(folder)
        self.features_ = None if name is None else features.load(name)
        if self.features_ is not None:
            self.n_columns_ = self.features_.n_columns
        config = self.config.graph
        weights = Weights.load(
            folder.path("weights.safetensors"),
            labels=len(self.labels_),
            documents=len(ids),
            hops=len(config.fanouts),
            resolutions=config.resolutions,
        )
        width = weights.classifiers.shape[1]
        self.initial_ = Initial.load(folder.sub("initial"), self.config, columns=self.n_columns_, width=width)
        index = AnnIndex.load(folder.path("nodes.safetensors"), n=len(weights.graph_indptr) - 1, width=width)
        nodes = NodeIndex(rows_of(index), weights.graph, index, weights.labels_of, ids)
        labels = None
        if self.config.shortlist.embedding != "classifier":
            labels = AnnIndex.load(folder.path("labels.safetensors"), n=len(self.labels_), width=width)
        layered = None
        if config.encoder != "galaxc":
            layered = _graph_encoder(
                folder.path("encoder.safetensors"), config.encoder, len(config.fanouts), width
            )
        self.predictor_ = Predictor(weights, nodes, labels, self.config, layered)


def _graph_description(folder: VerifiedFolder) -> tuple[list[str], str | None, int]:
    """The ids of the documents, the name of the text features (None: feature rows), the columns of rows."""
    found = read_json(folder.path("graph.json"))
    found = found if isinstance(found, dict) else {}
    ids, columns = found.get("documents"), found.get("columns")
    if (
        not isinstance(ids, list)
        or not all(isinstance(i, str) for i in ids)
        or type(columns) is not int
        or "features" not in found
    ):
        raise ModelIntegrityError(f"{folder.root}: graph.json does not describe documents and their rows")
    return ids, found["features"], columns


def _graph_encoder(
    path: Path, kind: Literal["gin", "graphsage"], hops: int, width: int
) -> dict[str, np.ndarray]:
    """The weights of GIN or GraphSAGE, if they fit the others."""
    arrays = dict(read_arrays(path))
    with checks.of_file(path):
        found = LayeredWeights.of(kind, arrays)
        if (len(found.hops), found.width) != (hops, width):
            raise ModelIntegrityError(
                f"the graph encoder has {len(found.hops)} hops of width {found.width}, not {hops} of {width}"
            )
    return arrays


def _check_k(k: int) -> None:
    if k < 1:
        raise UsageError(f"k must be at least 1, not {k}")
