"""Tag documents with the labels whose names share words with them; works without any training document.

The score of a label is the cosine of the TF-IDF rows of the document and of the label's best name: its text or one
of its alternative names (``alt`` in a label's record, skos:altLabel).
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from scipy.sparse import csr_array

from longtail.explain import Asked, Context, LabelExplanation
from longtail.run import Run
from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.shortlist.lexical import LexicalIndex
from longtail.storage import VerifiedFolder, read_json, write_json
from longtail.systems.base import Capabilities, System
from longtail.systems.lexical.config import LexicalConfig
from longtail.systems.lexical.predict import LexicalDocuments, NameRows
from longtail.systems.lexical.train import distinct_names, has_text, of_names
from longtail.systems.lexical.train import train as train_names
from longtail.text.feature_store import FeatureStore
from longtail.text.shared_features import FeatureReader, FeatureWriter
from longtail.text.tfidf import TfidfFeatures
from longtail.types import Dataset, Documents, Edges

DESCRIPTION = "lexical.json"
NAMES_FILE = "names.safetensors"


class Lexical(System):
    """Compares documents with label names; labels without a name are never predicted."""

    name: ClassVar[str] = "lexical"
    capabilities: ClassVar[Capabilities] = Capabilities(
        label_text=True, cold_labels=True, new_labels=True, zero_shot=True
    )
    candidate_features: ClassVar[tuple[str, ...]] = ("text_match",)
    typical_ms: ClassVar[float] = 0.15
    Config = LexicalConfig

    config: LexicalConfig
    features_: TfidfFeatures
    from_names_: bool
    """Whether the vocabulary is that of the label names alone."""
    names_: NameRows
    index_: LexicalIndex

    @property
    def needs_text(self) -> bool:
        """Documents give the vocabulary and its IDF; label names alone are enough."""
        return False

    def _fit(self, train: Dataset, valid: Dataset | None, run: Run, store: FeatureStore) -> None:
        self.from_names_ = not has_text(train, self.config)
        self._use(*train_names(train, self.config, run, store))

    def _use(self, features: TfidfFeatures, names: NameRows) -> None:
        self.features_, self.names_ = features, names
        self.index_ = names.index(features.n_columns, self.config.exact_below)

    def _add_labels(self, texts: list[str], examples: Dataset | None) -> None:
        """New rows; a vocabulary of label names alone takes the words of new names, as if all had been there."""
        new = [[text] if text.strip() else [] for text in texts]
        if self.from_names_:
            self._use(*of_names([*distinct_names(self.labels_, Run()), *new], self.config))
        else:
            self._use(self.features_, self.names_.extended(NameRows.of(self.features_, new)))

    def _encode(
        self,
        documents: Documents,
        store: FeatureStore,
        *,
        revealed: csr_array | None = None,
        edges: Edges | None = None,
    ) -> EncodedDocuments:
        return LexicalDocuments(self.index_, store.tfidf(self.features_, self.config.fields))

    def _explain(self, asked: Asked) -> list[LabelExplanation]:
        """Exactly, by the terms that a label's best name shares with the text."""
        from longtail.systems.lexical.explain import explain

        return explain(self, asked)

    def _context(self, asked: Asked) -> list[Context]:
        """The names that match the text."""
        from longtail.systems.lexical.explain import context

        return context(self, asked)

    def _save_parts(self, folder: Path, features: FeatureWriter) -> None:
        name = features.save(self.features_)
        write_json(folder / DESCRIPTION, {"features": name, "from_names": self.from_names_})
        self.names_.save(folder / NAMES_FILE)

    def _load_parts(self, folder: VerifiedFolder, features: FeatureReader) -> None:
        found = read_json(folder.path(DESCRIPTION))
        vocabulary, self.from_names_ = features.load(found["features"]), bool(found["from_names"])
        sizes = {"labels": len(self.labels_), "terms": vocabulary.n_columns}
        self._use(vocabulary, NameRows.load(folder.path(NAMES_FILE), **sizes))
