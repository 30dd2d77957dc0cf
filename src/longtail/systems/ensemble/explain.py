"""Why the re-ranker gives a label its score: words by occlusion, and the share of each member.

The explained quantity is the re-ranker's score s before the sigmoid. With x the features of the label for this text
and x0 those for the text without words, the share of a member is its Shapley value: what its columns add to s when
they change from x0 to x, averaged over all orders of the members. Shares add up to s(x) - s(x0) exactly.
"""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from longtail.explain.asked import Asked
from longtail.explain.explanation import Context, LabelExplanation, MemberShare
from longtail.explain.occlusion import by_occlusion
from longtail.explain.words import word_spans
from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.shortlist.candidates import Candidates
from longtail.systems.ensemble.features import computed, n_columns
from longtail.systems.ensemble.predict import LATER_POWER, Encoded
from longtail.systems.ensemble.reranker import Reranker
from longtail.systems.explaining import asked_of

if TYPE_CHECKING:
    from longtail.systems.ensemble.system import Ensemble

NOTE = "; shares of members are exact: they add up to the difference to the text without words"
LATER = "; the probability is that of a document with this label that came after training (cosine {:.2f})"
UNIT = "the re-ranker's score before the sigmoid"


def explain(system: Ensemble, asked: Asked) -> list[LabelExplanation]:
    """The labels explained by removing words, and by the shares of members."""
    found = by_occlusion(asked, measure=_logits, unit=UNIT)
    empty, whole = asked.variants([word_spans(asked.text)]), asked.variants([np.zeros((0, 2), np.int64)])
    encoded, without = asked.encode(whole), asked.encode(empty)
    assert isinstance(encoded, Encoded)
    assert isinstance(without, Encoded)
    x, x0 = _features(encoded, asked.candidates()), _features(without, asked.candidates())
    hierarchy = system.parents_ is not None
    ends = np.cumsum([n_columns(m.system.candidate_features, hierarchy=hierarchy) for m in system.members_])
    shares = member_shares(_reranker(encoded), x, x0, asked.labels, system.group_, ends)
    cosines = encoded.later_cosines(asked.candidates())
    raised = cosines**LATER_POWER > 1 / (1 + np.exp(-_logits(encoded, asked.candidates())))
    scores = [asked.candidates().scores_in(part, 0.0) for part in encoded.gathered.shortlists]
    return [
        replace(
            made,
            note=made.note + NOTE + (LATER.format(cosines[i]) if raised[i] else ""),
            members=[
                MemberShare(
                    member.name, float(share), float(own[i]), _rank(x[i, end - len(computed(hierarchy))])
                )
                for member, share, end, own in zip(
                    system.members_, shares[i], ends.tolist(), scores, strict=True
                )
            ],
        )
        for i, made in enumerate(found)
    ]


def context(system: Ensemble, asked: Asked) -> list[Context]:
    """Names, neighbours and near documents of all members."""
    parts: list[list[Context]] = [[] for _ in asked.labels]
    for member in system.members_:
        n_labels, able = len(member.system.labels_), member.system.capabilities
        known = np.flatnonzero(asked.labels < n_labels)
        if not len(known):
            continue
        revealed = (
            asked.revealed[:, :n_labels] if asked.revealed is not None and able.revealed_labels else None
        )
        edges = asked.edges if able.auxiliary_edges else None
        own = asked_of(member.system, asked.document, asked.labels[known], revealed, edges)
        for place, found in zip(known.tolist(), member.system._context(own), strict=True):
            parts[place].append(found)
    return [Context.joined(each) for each in parts]


def member_shares(
    reranker: Reranker,
    x: np.ndarray,
    x0: np.ndarray,
    labels: np.ndarray,
    group: np.ndarray,
    ends: np.ndarray,
) -> np.ndarray:
    """The Shapley value of each member in s(x) - s(x0).

    Shapes:
        x, x0 [n, features], labels int [n], group int8 [L], ends of the columns int [members]
        -> float64 [n, members]
    """
    n_members, member_of = len(ends), np.searchsorted(ends, np.arange(x.shape[1]), side="right")
    sets = np.arange(2**n_members)
    changed = (sets[:, None] >> np.arange(n_members)) & 1 > 0
    scores = np.stack([logits(reranker, np.where(some[member_of], x, x0), labels, group) for some in changed])
    size = changed.sum(axis=1)
    shares = np.zeros((len(x), n_members))
    for m in range(n_members):
        without = np.flatnonzero(~changed[:, m])
        weight = 1 / (n_members * np.array([comb(n_members - 1, int(s)) for s in size[without]]))
        shares[:, m] = weight @ (scores[without | (1 << m)] - scores[without])
    return shares


def logits(reranker: Reranker, x: np.ndarray, labels: np.ndarray, group: np.ndarray) -> np.ndarray:
    """s(x) of labels that are looked at one by one, float64 [n]."""
    each = Candidates(np.arange(len(labels) + 1), labels.astype(np.int32), np.zeros(len(labels), np.float32))
    return reranker.logits(each, x.astype(np.float32), group).astype(np.float64)


def _reranker(encoded: Encoded) -> Reranker:
    """The one in use: documents of one batch either all have revealed labels or none has."""
    warm, revealed = encoded.rerankers.warm, encoded.revealed
    return encoded.rerankers.only if warm is None or revealed is None or not revealed.nnz else warm


def _features(encoded: Encoded, candidates: Candidates) -> np.ndarray:
    """Those of the candidates among all that were gathered: some depend on the other candidates [entries, f]."""
    every = encoded.gathered.candidates.union(candidates)
    place = every.with_scores(np.arange(len(every.ids)))
    rows = candidates.scores_in(place, -1.0).astype(np.int64)
    found: np.ndarray = encoded.gathered.features(every)[rows]
    return found


def _logits(encoded: EncodedDocuments, candidates: Candidates) -> np.ndarray:
    assert isinstance(encoded, Encoded)
    return logits(_reranker(encoded), _features(encoded, candidates), candidates.ids, encoded.group)


def _rank(reciprocal: float) -> int | None:
    return round(1 / float(reciprocal)) if reciprocal > 0 else None
