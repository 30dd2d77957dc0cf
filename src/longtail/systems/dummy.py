"""The simplest system: every document gets the most frequent labels. A floor for figures, and a quick stand-in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from longtail.run import Run
from longtail.storage import VerifiedFolder
from longtail.systems.base import Capabilities, System, SystemConfig
from longtail.types import Dataset, Documents, TopK


class Dummy(System):
    """Scores are the labels' shares of the training documents."""

    name: ClassVar[str] = "dummy"
    capabilities: ClassVar[Capabilities] = Capabilities(features=True, probabilities=True)

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(SystemConfig):
        """No settings of its own."""

    @property
    def needs_text(self) -> bool:
        """It never looks at a document."""
        return False

    def _fit(self, train: Dataset, valid: Dataset | None, run: Run) -> None:
        with run.phase("count"):
            self.prior_ = (train.label_counts / len(train)).astype(np.float32)

    def _predict_batch(self, documents: Documents, k: int) -> TopK:
        best = np.argsort(-self.prior_, kind="stable")[:k]
        best = best[self.prior_[best] > 0]
        answer = TopK.empty(len(documents), k)
        answer.labels[:, : len(best)] = best
        answer.scores[:, : len(best)] = self.prior_[best]
        return answer

    def _save_parts(self, folder: Path) -> None:
        """The label counts, which every model folder has, are all there is."""

    def _load_parts(self, folder: VerifiedFolder) -> None:
        self.prior_ = (self.label_counts_ / self.facts_.documents).astype(np.float32)
