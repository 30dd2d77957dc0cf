"""A trained X-GRank: one model or several, and what is known of a label beside their scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from longtail.shortlist.candidates import Candidates
from longtail.systems.common.fusion import FLOOR, Fusion
from longtail.systems.common.label_texts import LabelTexts
from longtail.systems.xgrank.calibration import Calibrator
from longtail.systems.xgrank.config import XgrankConfig
from longtail.systems.xgrank.member import Member, Read

EVIDENCE = ("ranker", "retriever", "text", "linear", "linear probability")
"""What is known of a candidate: the ranker's margin, its cluster's score below that of the best cluster, the match
of the texts, and the score of a linear label tree as a logarithm and as it is."""

Combine = Literal["zscore", "softmax"]


@dataclass(frozen=True, slots=True)
class Looked:
    """Candidates and what was found on the way to them.

    Shapes:
        margin, retriever [entries]
    """

    candidates: Candidates
    margin: np.ndarray
    retriever: np.ndarray


class Folded:
    """Ready to predict.

    Args:
        members: models of their own.
        texts: label texts.
        combine: how scores of a document are made comparable between members.
        calibrator: margins to probabilities.
        fusion: weights of evidence; None: the ranker alone.
    """

    def __init__(
        self,
        members: list[Member],
        texts: LabelTexts,
        config: XgrankConfig,
        combine: Combine,
        calibrator: Calibrator,
        fusion: Fusion | None,
    ) -> None:
        self.members, self.texts, self.config = members, texts, config
        self.combine, self.calibrator, self.fusion = combine, calibrator, fusion

    def read(self, texts: list[str]) -> list[Read]:
        """What each member's encoder makes of documents."""
        return [member.reader(texts) for member in self.members]

    def __call__(self, texts: list[str], X: csr_array, linear: Candidates | None = None) -> Candidates:
        """The candidates of each document with their final scores, between 0 and 1."""
        found = self.look(self.read(texts), X, linear)
        if self.fusion is not None:
            return self.fusion(found.candidates, self.evidence(found, X, linear))
        return found.candidates.with_scores(self.calibrator(found.margin))

    def look(
        self, reads: list[Read], X: csr_array, linear: Candidates | None, combine: Combine | None = None
    ) -> Looked:
        """Retrieve and rank: labels of the best clusters of any member, and those that other witnesses name.

        For a learnt score, only the best labels of each member stay: what is known of thousands of them would take
        as long as a layer of the encoder.
        """
        config = self.config
        learnt = config.score == "learnt"
        pairs = list(zip(self.members, reads, strict=True))
        clusters = [member.clusters(read, config.clusters.beam) for member, read in pairs]
        ranked = [
            member.best(read, found, config.shortlist if learnt else None)
            for (member, read), found in zip(pairs, clusters, strict=True)
        ]
        others = [linear] if learnt and linear is not None else []
        if learnt and config.lexical:
            others.append(self.texts.top(X, config.lexical))
        every = [_with_others(ranked, others, i, *pair) for i, pair in enumerate(pairs)]
        candidates = every[0]
        below = [
            member.below_best(candidates, found, best)
            for member, found, best in zip(self.members, clusters, ranked, strict=True)
        ]
        way = combine or self.combine
        margin = together([comparable(part, way) for part in every], way)
        return Looked(candidates, margin, np.mean(below, axis=0))

    def evidence(self, found: Looked, X: csr_array, linear: Candidates | None) -> np.ndarray:
        """What is known of each candidate [entries, kinds], as ``EVIDENCE`` names it."""
        candidates = found.candidates
        floor = float(np.log(FLOOR))
        said = np.full(len(candidates.ids), floor, np.float32)
        if linear is not None:
            said = candidates.scores_in(linear, floor)
        text = self.texts.match(X, candidates).scores
        return np.stack([found.margin, found.retriever, text, said, np.exp(said)], axis=1)


def _with_others(
    ranked: list[Candidates], others: list[Candidates], number: int, member: Member, read: Read
) -> Candidates:
    """The labels that a member ranked, and its scores of those that come from elsewhere."""
    new = [*others, *ranked[:number], *ranked[number + 1 :]]
    return ranked[number].union(member.rank(read, reduce(Candidates.union, new))) if new else ranked[number]


def comparable(ranked: Candidates, combine: Combine) -> np.ndarray:
    """Scores that may be compared with those of another model or document [entries].

    GRank only knows differences within a document, so a raw score means nothing by itself. softmax: how far it is
    below the sum of all candidates, as logarithms (the margin); zscore: in standard deviations from their mean.
    """
    counts, scores = ranked.counts, ranked.scores.astype(np.float64)
    if not len(scores):
        return ranked.scores
    there = np.flatnonzero(counts)
    starts = ranked.indptr[:-1][there]

    def spread(per_document: np.ndarray) -> np.ndarray:
        return np.repeat(per_document, counts[there])

    if combine == "zscore":
        mean = np.add.reduceat(scores, starts) / counts[there]
        centred = scores - spread(mean)
        deviation = np.sqrt(np.add.reduceat(centred**2, starts) / counts[there])
        return np.asarray(centred / spread(np.maximum(deviation, 1e-6)), np.float32)
    best = np.maximum.reduceat(scores, starts)
    total = np.log(np.add.reduceat(np.exp(scores - spread(best)), starts)) + best
    return np.asarray(scores - spread(total), np.float32)


def together(scores: list[np.ndarray], combine: Combine) -> np.ndarray:
    """Comparable scores of several models as one: mean probability (as a logarithm), or mean of z-scores."""
    if len(scores) == 1:
        return scores[0]
    if combine == "zscore":
        return np.asarray(np.mean(scores, axis=0, dtype=np.float64), np.float32)
    return np.asarray(np.logaddexp.reduce(scores, axis=0) - np.log(len(scores)), np.float32)
