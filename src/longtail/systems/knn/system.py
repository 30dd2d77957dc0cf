"""The labels of the nearest training documents, weighted by their cosines (k nearest neighbours, exact or HNSW).

Documents are added and removed after training and count at once.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from longtail.blocks.text_encoder import TextEncoder
from longtail.errors import ModelIntegrityError
from longtail.explain import Asked, Context, LabelExplanation
from longtail.run import Run
from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.storage import VerifiedFolder, read_json, write_json
from longtail.systems import updates
from longtail.systems.base import Capabilities, System
from longtail.systems.feature_rows import check_kind
from longtail.systems.knn.config import KnnConfig
from longtail.systems.knn.neighbours import AnnNeighbours, Neighbours, TermNeighbours, VectorNeighbours
from longtail.systems.knn.predict import Assignments, KnnDocuments, Representation, TrainingDocuments
from longtail.systems.knn.train import train as train_index
from longtail.systems.label_facts import cooccurring, having
from longtail.text.feature_store import FeatureStore
from longtail.text.shared_features import FeatureReader, FeatureWriter
from longtail.text.tfidf import TfidfFeatures
from longtail.types import Dataset, Documents, Edges

DESCRIPTION, IDS_FILE, LABELS_FILE, ENCODER = "knn.json", "documents.json", "labels.safetensors", "encoder"


class Knn(System):
    """Gives a document the labels of training documents like it."""

    name: ClassVar[str] = "knn"
    capabilities: ClassVar[Capabilities] = Capabilities(features=True, new_labels=True, new_documents=True)
    candidate_features: ClassVar[tuple[str, ...]] = ("votes", "nearest")
    typical_ms: ClassVar[float] = 0.2
    Config = KnnConfig

    config: KnnConfig
    representation_: Representation
    training_: TrainingDocuments

    @property
    def features_(self) -> TfidfFeatures | None:
        """The vocabulary, if there is one; an ensemble replaces it by an equal one that its members share."""
        return self.representation_.features

    @features_.setter
    def features_(self, features: TfidfFeatures | None) -> None:
        self.representation_ = replace(self.representation_, features=features)

    def _fit(self, train: Dataset, valid: Dataset | None, run: Run, store: FeatureStore) -> None:
        self.representation_, self.training_ = train_index(train, self.config, run, store)

    def _encode(
        self,
        documents: Documents,
        store: FeatureStore,
        *,
        revealed: csr_array | None = None,
        edges: Edges | None = None,
    ) -> EncodedDocuments:
        rows = self.representation_.rows(store, self.config.fields)
        readable: np.ndarray = (
            (rows != 0).any(axis=1) if isinstance(rows, np.ndarray) else np.diff(rows.indptr) > 0
        )
        found = self.training_.nearest(rows, documents.ids, self.config.neighbours)
        return KnnDocuments(found, self.training_, self.config.power, readable)

    def _explain(self, asked: Asked) -> list[LabelExplanation]:
        """By the terms that the text shares with its neighbours."""
        from longtail.systems.knn.explain import explain

        return explain(self, asked)

    def _context(self, asked: Asked) -> list[Context]:
        """The neighbours that have the label."""
        from longtail.systems.knn.explain import context

        return context(self, asked)

    def label_neighbours(self, label: int, k: int = 10) -> list[tuple[int, float]]:
        """The labels that its training documents have as well."""
        return cooccurring(self.training_.Y, label, k)

    def label_documents(self, label: int, k: int = 10) -> list[tuple[str, np.ndarray]]:
        """Some of its training documents."""
        return having(self.training_.ids, self.training_.Y, label, k)

    # --- documents and labels after training --------------------------------------------------------------

    def _add_documents(self, documents: Dataset) -> None:
        rows = self.representation_.rows(FeatureStore(documents.documents), self.config.fields)
        self.training_ = self.training_.added(documents.documents.ids, documents.Y, rows)

    def _remove_documents(self, ids: list[str]) -> csr_array:
        self.training_, gone = self.training_.without(ids)
        return gone

    def _add_labels(self, texts: list[str], examples: Dataset | None) -> None:
        """Examples become training documents; a label without any is predicted once documents have it."""
        if examples is None or not len(examples):
            return
        self._check_documents(examples.documents)
        known = len(self.labels_)
        Y = examples.Y[:, : known + len(texts)]
        rows = self.representation_.rows(FeatureStore(examples.documents), self.config.fields)
        self.training_ = self.training_.added(examples.documents.ids, Y, rows)
        counts = np.bincount(Y.indices, minlength=Y.shape[1])[:known]
        updates.count_documents(self, len(examples), counts, examples.fingerprint())

    def _check_documents(self, documents: Documents) -> None:
        super()._check_documents(documents)
        made = self.representation_
        check_kind(documents, made.width if made.features is None and made.encoder is None else None)

    # --- model folders ------------------------------------------------------------------------------------

    def _save_parts(self, folder: Path, features: FeatureWriter) -> None:
        made = self.representation_
        name = None if made.features is None else features.save(made.features)
        described = {"features": name, "width": made.width, "trained": self.training_.trained}
        write_json(folder / DESCRIPTION, described)
        if made.encoder is not None:
            made.encoder.save(folder / ENCODER)
        write_json(folder / IDS_FILE, self.training_.ids)
        Assignments.of(self.training_.Y).save(folder / LABELS_FILE)
        self.training_.neighbours.save(folder)

    def _load_parts(self, folder: VerifiedFolder, features: FeatureReader) -> None:
        found = read_json(folder.path(DESCRIPTION))
        width, encoder = int(found["width"]), None
        if self.config.vectors == "encoder":
            encoder = TextEncoder.load(folder.sub(ENCODER))
        vocabulary = None if found["features"] is None else features.load(found["features"])
        known = vocabulary.n_columns if vocabulary else encoder.folder.width if encoder else width
        if known != width or width < 1:
            raise ModelIntegrityError(f"{folder.root}: the text features are not those of this model")
        self.representation_ = Representation(vocabulary, encoder, width)
        ids = _read_ids(folder.path(IDS_FILE), self.facts_.documents)
        sizes = {"documents": len(ids), "labels": len(self.labels_)}
        labels = Assignments.load(folder.path(LABELS_FILE), **sizes).matrix(len(self.labels_))
        trained = int(found.get("trained", len(ids)))
        if not 0 <= trained <= len(ids):
            raise ModelIntegrityError(
                f"{folder.root}: {DESCRIPTION} has more training documents than there are"
            )
        neighbours = self._load_neighbours(folder, len(ids), width)
        self.training_ = TrainingDocuments(ids, labels, neighbours, trained)

    def _load_neighbours(self, folder: VerifiedFolder, n: int, width: int) -> Neighbours:
        if self.config.vectors == "tfidf":
            return TermNeighbours.load(folder, n, width, self.config.exact_below)
        if self.config.search == "ann":
            return AnnNeighbours.load(folder, n, width, self.config.ef_search)
        return VectorNeighbours.load(folder, n, width)


def _read_ids(path: Path, n: int) -> list[str]:
    found: Any = read_json(path)
    if not isinstance(found, list) or len(found) != n or not all(type(id_) is str for id_ in found):
        raise ModelIntegrityError(f"{path} must have the ids of the {n:,} documents")
    return found
