"""GalaXC (Saini et al., WWW 2021) as a system: learn on the joint graph, fold, predict with two searches."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Literal, Self

import numpy as np
from scipy.sparse import csr_array

from longtail.errors import ModelIntegrityError, UsageError
from longtail.evaluation.insight import Insight
from longtail.run import Run
from longtail.shortlist.ann import AnnIndex
from longtail.shortlist.layered import LayeredWeights
from longtail.storage import VerifiedFolder, checks, read_arrays, read_json, write_arrays, write_json
from longtail.systems.base import Capabilities, System
from longtail.systems.common.label_texts import LabelTexts
from longtail.systems.common.needs_torch import needs_torch
from longtail.systems.common.prior import Prior
from longtail.systems.common.rows import document_rows
from longtail.systems.common.witness import Witness
from longtail.systems.galaxc.attention_insight import attention_by_frequency
from longtail.systems.galaxc.config import GalaxcConfig
from longtail.systems.galaxc.folded import Folded, Queries
from longtail.systems.galaxc.initial import Initial
from longtail.systems.galaxc.links import Links
from longtail.systems.galaxc.space import Space, no_pairs, rows_of
from longtail.systems.galaxc.weights import Weights
from longtail.text.tfidf import TfidfFeatures
from longtail.types import Dataset, Documents, DocumentsLike, Edges, TopK


class Galaxc(System):
    """Labels that are documents too, labels that are known already, links: good where things are related."""

    name: ClassVar[str] = "galaxc"
    capabilities: ClassVar[Capabilities] = Capabilities(
        features=True, label_text=True, revealed_labels=True, auxiliary_edges=True, validation=True
    )
    Config = GalaxcConfig

    config: GalaxcConfig
    features_: TfidfFeatures | None
    initial_: Initial
    folded_: Folded
    witness_: Witness | None
    n_columns_: int
    _prior: Prior | None = None
    _links: tuple[Edges, Space, Links] | None = None

    # --- learning -----------------------------------------------------------------------------------------

    def _fit(self, train: Dataset, valid: Dataset | None, run: Run) -> None:
        with needs_torch("training 'galaxc'"):
            from longtail.systems.galaxc.learning import learn

        trained = learn(train, valid, self.config, run)
        self.features_, self.initial_ = trained.rows.features, trained.initial
        self.folded_, self.witness_ = trained.folded, trained.witness
        self.n_columns_ = trained.rows.X.shape[1]
        self._prior = None

    # --- predicting ---------------------------------------------------------------------------------------

    def _predict_batch(self, documents: Documents, k: int) -> TopK:
        return self._predict_linked(documents, k, None, None)

    def _predict_linked(
        self, documents: Documents, k: int, revealed: csr_array | None, edges: Edges | None
    ) -> TopK:
        queries = self._queries(documents, revealed, edges)
        top = self.folded_(queries).top_k(k)
        unknown = ~queries.vectors.any(axis=1) & self._sees_nothing(queries)
        if not unknown.any():
            return top
        prior = self._prior = self._prior or Prior(self.label_counts_, self.facts_.documents)
        return prior.where(unknown, top)

    def _sees_nothing(self, queries: Queries) -> np.ndarray:
        """Documents of which nothing at all is known."""
        nothing = np.ones(len(queries.vectors), bool)
        if queries.revealed is not None:
            nothing &= np.diff(queries.revealed.indptr) == 0
        if queries.linked is not None:
            nothing &= (queries.linked < 0).all(axis=1)
        return nothing

    def _queries(self, documents: Documents, revealed: csr_array | None, edges: Edges | None) -> Queries:
        X, vectors = self._embedded(documents)
        space, graph = self.folded_.space, self.config.graph
        linked = None
        if edges is not None and graph.auxiliary != "none":
            linked = self._links_of(edges).table(documents.ids, graph.links)
        linear = None if self.witness_ is None else self.witness_(documents)
        nodes = np.where(
            [space.is_named(id_) for id_ in documents.ids], space.nodes_of(documents.ids, vectors), -1
        )
        return Queries(X, vectors, nodes, linked, revealed, linear)

    def _links_of(self, edges: Edges) -> Links:
        """The links ready for lookup; those of the last call are kept, as batches of one call bring the same."""
        space = self.folded_.space
        kept = self._links
        if kept is None or kept[0] is not edges or kept[1] is not space:
            kept = self._links = (edges, space, space.links(edges, self.labels_.ids))
        # Not what the attribute is by now: another thread may have put other links there.
        return kept[2]

    def _embedded(self, documents: Documents) -> tuple[csr_array, np.ndarray]:
        X = document_rows(self.features_, documents, self.config.fields)
        return X, self.initial_(X, documents.joined(self.config.fields))

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
        """Put documents into the graph, without learning anew: new ones can be near them from now on.

        A Dataset brings the labels of its documents, which they are then joined with and vote for; others are
        joined with their nearest nodes. Labels that the model does not have are left out. Classifiers stay as
        they are.
        """
        self._check_fitted()
        data = documents if isinstance(documents, Dataset) else None
        documents = Documents.of(documents)
        self._check_documents(documents)
        space, links = self.folded_.space, self.config.graph.links
        known = next((id_ for id_ in documents.ids if space.has(id_)), None)
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
        _, vectors = self._embedded(documents)
        near, _ = space.near(vectors, links, np.full(len(vectors), -1))
        counts = np.diff(Y.indptr)
        neighbours = np.full((len(documents), max(links, int(counts.max(initial=0)))), -1, np.int32)
        rows = np.repeat(np.arange(len(documents)), counts)
        neighbours[rows, np.arange(Y.nnz) - Y.indptr[rows]] = space.graph.node_of_label[Y.indices]
        neighbours[counts == 0, :links] = near[counts == 0]
        self._replace_space(space.with_documents(documents.ids, vectors, neighbours, Y))
        return self

    def _replace_space(self, space: Space) -> None:
        graph, known, folded = space.graph, space.labels_of, self.folded_
        weights = replace(
            folded.weights,
            node_of_document=graph.node_of_document.astype(np.int32),
            graph_indptr=graph.indptr.astype(np.int64),
            graph_indices=graph.indices.astype(np.int32),
            graph_own=graph.own.astype(np.uint8),
            known_indptr=known.indptr.astype(np.int64),
            known_indices=known.indices.astype(np.int32),
        )
        self.folded_ = Folded(weights, space, folded.labels, folded.texts, self.config, folded.layered_arrays)

    def similar_documents(self, documents: DocumentsLike, *, k: int = 10) -> list[list[tuple[str, float]]]:
        """The documents of the graph that are most alike: ids and cosines of initial embeddings, the best first."""
        self._check_fitted()
        _check_k(k)
        documents = Documents.of(documents)
        self._check_documents(documents)
        space = self.folded_.space
        _, vectors = self._embedded(documents)
        name = dict(zip(space.graph.node_of_document.tolist(), space.ids, strict=True))
        found: list[list[tuple[str, float]]] = []
        wide = 2 * k
        while True:
            wide = min(wide, space.graph.n_nodes)
            near, cosines = space.near(vectors, wide, space.nodes_of(documents.ids, vectors))
            found = [
                [(name[node], float(c)) for node, c in zip(row, cos, strict=True) if node in name][:k]
                for row, cos in zip(near.tolist(), cosines.tolist(), strict=True)
            ]
            # Labels are among what is near: look further until there are enough documents, or no more nodes.
            short = np.array([len(row) < k for row in found], bool)
            if wide >= space.graph.n_nodes or not (short & (near >= 0).all(axis=1)).any():
                return found
            wide *= 4

    def similar_labels(self, labels: list[str], *, k: int = 10) -> list[list[tuple[str, float]]]:
        """The labels whose embeddings are most alike those of these labels: ids and cosines, the best first."""
        self._check_fitted()
        _check_k(k)
        unknown = next((label for label in labels if label not in self.labels_.index), None)
        if unknown is not None:
            raise UsageError(f"the model has no label {unknown!r}")
        rows = np.array([self.labels_.index[label] for label in labels], np.int64)
        near, cosines = self.folded_.similar_labels(rows, min(k + 1, len(self.labels_)))
        return [
            [(self.labels_.ids[i], float(c)) for i, c in zip(row, cos, strict=True) if i >= 0 and i != own][
                :k
            ]
            for own, row, cos in zip(rows.tolist(), near.tolist(), cosines.tolist(), strict=True)
        ]

    def insights(self) -> list[Insight]:
        """How much labels look at each resolution, by their frequency (Fig. 6)."""
        self._check_fitted()
        return [attention_by_frequency(self.folded_.weights.attention, self.label_counts_, self.config.graph)]

    # --- model folders ------------------------------------------------------------------------------------

    def _save_parts(self, folder: Path) -> None:
        folded = self.folded_
        if self.features_ is not None:
            (folder / "features").mkdir()
            self.features_.save(folder / "features")
        write_arrays(folder / "label-texts.safetensors", folded.texts.arrays())
        if self.witness_ is not None:
            self.witness_.save(folder / "linear")
        self.initial_.save(folder / "initial")
        write_json(folder / "graph.json", {"documents": folded.space.ids, "columns": self.n_columns_})
        write_arrays(folder / "weights.safetensors", folded.weights.arrays())
        folded.space.index.save(folder / "nodes.safetensors")
        folded.labels.save(folder / "labels.safetensors")
        if folded.layered_arrays is not None:
            write_arrays(folder / "encoder.safetensors", folded.layered_arrays)

    def _load_parts(self, folder: VerifiedFolder) -> None:
        graph = read_json(folder.path("graph.json"))
        ids, columns = (
            graph.get(name) if isinstance(graph, dict) else None for name in ("documents", "columns")
        )
        if (
            not isinstance(ids, list)
            or not all(isinstance(i, str) for i in ids)
            or not isinstance(columns, int)
        ):
            raise ModelIntegrityError(f"{folder.root}: graph.json does not name the documents")
        text = folder.sub("features")
        self.features_ = None if text is None else TfidfFeatures.load(text)
        self.n_columns_ = columns if self.features_ is None else self.features_.n_columns
        self.initial_ = Initial.load(folder.sub("initial"), self.config, self.n_columns_)
        config = self.config.graph
        weights = Weights.load(
            folder.path("weights.safetensors"),
            n_labels=len(self.labels_),
            n_documents=len(ids),
            hops=len(config.fanouts),
            resolutions=config.resolutions,
        )
        width = weights.classifiers.shape[1]
        self._check_width(folder, width)
        nodes = AnnIndex.load(folder.path("nodes.safetensors"), n=len(weights.graph_indptr) - 1, width=width)
        space = Space(rows_of(nodes), weights.graph, nodes, weights.labels_of, ids)
        key_width = width + (self.config.shortlist.embedding == "classifier")
        labels = AnnIndex.load(folder.path("labels.safetensors"), n=len(self.labels_), width=key_width)
        texts = LabelTexts.load(
            folder.path("label-texts.safetensors"), n_tokens=self.n_columns_, n_labels=len(self.labels_)
        )
        layered = None
        if config.encoder != "galaxc":
            layered = self._load_encoder(folder.path("encoder.safetensors"), config.encoder, width)
        self.witness_ = Witness.load(folder.sub("linear"), self.labels_)
        self.folded_ = Folded(weights, space, labels, texts, self.config, layered)
        self._prior = None

    def _check_width(self, folder: VerifiedFolder, width: int) -> None:
        """Token embeddings or feature rows must be as long as what was learnt with them."""
        if self.initial_.encoder is not None:
            return
        tokens = self.initial_.tokens
        found = self.n_columns_ if tokens is None else tokens.shape[1]
        if found != width:
            raise ModelIntegrityError(
                f"{folder.root}: initial embeddings have {found} numbers each, but the classifiers {width}"
            )

    def _load_encoder(
        self, path: Path, kind: Literal["gin", "graphsage"], width: int
    ) -> dict[str, np.ndarray]:
        """The weights of a graph encoder, once they fit the others."""
        arrays = dict(read_arrays(path))
        with checks.of_file(path):
            found = LayeredWeights.of(kind, arrays)
            hops = len(self.config.graph.fanouts)
            if (len(found.hops), found.width) != (hops, width):
                raise ModelIntegrityError(
                    f"the graph encoder has {len(found.hops)} hops of width {found.width}, not {hops} of {width}"
                )
        return arrays


def _check_k(k: int) -> None:
    if k < 1:
        raise UsageError(f"k must be at least 1, not {k}")
