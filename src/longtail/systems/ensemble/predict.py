"""Prediction with an ensemble: gather candidates, compute features, re-rank, fall back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.shortlist.candidates import Candidates
from longtail.systems.ensemble.features import Gathered
from longtail.systems.ensemble.popularity import PopularityFallback
from longtail.systems.ensemble.reranker import Reranker

LATER_POWER = np.float32(4)
"""A label of a document that came after training has at least the probability cosine to this power.

Most members do not know the document, so the re-ranker would hardly give it a chance.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Rerankers:
    """A re-ranker per set of members, the fastest set first; ``warm`` is for documents with revealed labels."""

    by_members: dict[tuple[str, ...], Reranker]
    warm: Reranker | None

    def of(self, names: tuple[str, ...]) -> Rerankers:
        """For these members alone; the one for revealed labels is for all members together."""
        whole = max(map(len, self.by_members)) == len(names)
        return Rerankers({names: self.by_members[names]}, self.warm if whole else None)

    def among(self, names: tuple[str, ...]) -> Rerankers:
        """Those of all sets of some of these members."""
        return Rerankers(
            {subset: reranker for subset, reranker in self.by_members.items() if set(subset) <= set(names)},
            self.of(names).warm,
        )

    @property
    def only(self) -> Reranker:
        """The single re-ranker that is left."""
        return next(iter(self.by_members.values()))


class Encoded(EncodedDocuments):
    """A batch of documents as all members read it."""

    def __init__(
        self,
        encoded: Sequence[EncodedDocuments],
        rerankers: Rerankers,
        group: np.ndarray,
        fallback: PopularityFallback,
        candidates: int,
        revealed: csr_array | None = None,
        parents: csr_array | None = None,
    ) -> None:
        self.rerankers, self.group, self.fallback = rerankers, group, fallback
        self.gathered = Gathered.of(encoded, candidates, parents)
        readable = encoded[0].readable
        for documents in encoded[1:]:
            readable = readable | documents.readable
        self.unreadable = ~readable
        # With the fallback, every document has an answer.
        self.readable = np.ones(len(self.unreadable), bool)
        self.revealed = revealed

    @cached_property
    def scored(self) -> Candidates:
        """All candidates with their probabilities."""
        return self.fallback.fill(self._reranked(self.gathered.candidates), self.unreadable)

    def shortlist(self, size: int) -> Candidates:
        """All candidates of all members, by the re-ranker."""
        return self.scored

    @property
    def calibratable(self) -> np.ndarray:
        """The shares of the fallback are probabilities already."""
        found: np.ndarray = ~self.unreadable
        return found

    def features(self, candidates: Candidates) -> np.ndarray:
        """The re-ranker's probability of any candidates [entries, 1]."""
        return self._reranked(candidates).scores[:, None]

    def _reranked(self, candidates: Candidates) -> Candidates:
        features = self.gathered.features(candidates)
        found = self.rerankers.only(candidates, features, self.group)
        if self.rerankers.warm is not None and self.revealed is not None:
            warm = self.rerankers.warm(candidates, features, self.group)
            knows = np.repeat(np.diff(self.revealed.indptr) > 0, candidates.counts)
            found = found.with_scores(np.where(knows, warm.scores, found.scores))
        if not self._later:
            return found
        return found.with_scores(np.maximum(found.scores, self.later_cosines(candidates) ** LATER_POWER))

    def later_cosines(self, candidates: Candidates) -> np.ndarray:
        """The cosine of the nearest document that came after training and has the label, 0 for none [entries]."""
        cosines = np.zeros(len(candidates.ids), np.float32)
        for later in self._later:
            cosines = np.maximum(cosines, candidates.scores_in(later, 0.0))
        return cosines

    @cached_property
    def _later(self) -> list[Candidates]:
        """The labels of near documents that came after training, of each member that takes such documents."""
        return [later for documents in self.gathered.encoded if (later := documents.later()) is not None]
