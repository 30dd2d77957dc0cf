"""What one system says of candidates: its own score, and named feature columns for a re-ranker."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from longtail.shortlist.candidates import Candidates
from longtail.types import TopK

FLOOR = np.float32(1e-6)
"""The least probability whose logarithm is a feature."""

LOG_FLOOR = float(np.log(FLOOR))


@dataclass(frozen=True, slots=True, eq=False)
class CandidateFeatures:
    """Candidates of a batch of documents with a row of features each.

    Shapes:
        features float32 [entries, names]
    """

    candidates: Candidates
    features: np.ndarray
    names: tuple[str, ...]

    @classmethod
    def stack(cls, parts: Sequence[CandidateFeatures], names: tuple[str, ...]) -> CandidateFeatures:
        """The documents of several batches one after another."""
        nothing = np.empty((0, len(names)), np.float32)
        return cls(
            Candidates.stack([part.candidates for part in parts]),
            np.concatenate([nothing, *(part.features for part in parts)]),
            names,
        )


class EncodedDocuments(ABC):
    """A batch of documents as one system reads them: encoded once, then shortlisted and scored.

    Attributes:
        readable: bool [n]: whether the system knows anything of a document (a word of its vocabulary, say).
    """

    readable: np.ndarray

    @abstractmethod
    def shortlist(self, size: int) -> Candidates:
        """At least the ``size`` best labels per document (fewer where the system has no more) with its own score.

        The score of a label does not depend on ``size``.
        """

    @abstractmethod
    def features(self, candidates: Candidates) -> np.ndarray:
        """The system's feature columns for any candidates, whoever proposed them: float32 [entries, names]."""

    def later(self) -> Candidates | None:
        """The labels of near documents that came after training, with their similarities (at most 1) as scores.

        A re-ranker was fitted without such documents: it does not know what they are worth. None: there are none.
        """
        return None

    @property
    def calibratable(self) -> np.ndarray:
        """bool [n]: whether the scores of a document are the system's own, which a calibration is for."""
        return self.readable

    def readable_shortlist(self, size: int) -> Candidates:
        """The shortlist; a document that is not readable has none."""
        found = self.shortlist(size)
        return found if self.readable.all() else found.where(self.readable[found.rows])

    def top_k(self, k: int) -> TopK:
        """The k best labels by the system's own score; a document that is not readable has none."""
        return self.readable_shortlist(k).top_k(k)
