"""The simplest system: every document gets the most frequent labels. A floor for metrics, and a quick stand-in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from longtail.run import Run
from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.shortlist.candidates import Candidates
from longtail.storage import VerifiedFolder
from longtail.systems.base import Capabilities, System, SystemConfig
from longtail.text.feature_store import FeatureStore
from longtail.text.shared_features import FeatureReader, FeatureWriter
from longtail.types import Dataset, Documents, Edges


class Dummy(System):
    """Scores are the labels' shares of the training documents."""

    name: ClassVar[str] = "dummy"
    capabilities: ClassVar[Capabilities] = Capabilities(features=True, probabilities=True)
    candidate_features: ClassVar[tuple[str, ...]] = ("share",)

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(SystemConfig):
        """No settings of its own."""

    @property
    def needs_text(self) -> bool:
        """It never looks at a document."""
        return False

    def _fit(self, train: Dataset, valid: Dataset | None, run: Run, store: FeatureStore) -> None:
        with run.phase("count"):
            self.prior_ = (train.label_counts / len(train)).astype(np.float32)

    def _encode(
        self,
        documents: Documents,
        store: FeatureStore,
        *,
        revealed: csr_array | None = None,
        edges: Edges | None = None,
    ) -> EncodedDocuments:
        return _Popular(len(documents), self.prior_)

    def _save_parts(self, folder: Path, features: FeatureWriter) -> None:
        """The label counts, which every model folder has, are all there is."""

    def _load_parts(self, folder: VerifiedFolder, features: FeatureReader) -> None:
        self.prior_ = (self.label_counts_ / self.facts_.documents).astype(np.float32)


class _Popular(EncodedDocuments):
    """The same labels for each of n documents."""

    def __init__(self, n: int, prior: np.ndarray) -> None:
        self.n, self.prior = n, prior
        self.readable = np.ones(n, bool)

    def shortlist(self, size: int) -> Candidates:
        best = np.argsort(-self.prior, kind="stable")[:size]
        best = np.sort(best[self.prior[best] > 0])
        counts = np.full(self.n, len(best))
        return Candidates.from_counts(
            counts, np.tile(best.astype(np.int32), self.n), np.tile(self.prior[best], self.n)
        )

    def features(self, candidates: Candidates) -> np.ndarray:
        found: np.ndarray = self.prior[candidates.ids][:, None]
        return found
