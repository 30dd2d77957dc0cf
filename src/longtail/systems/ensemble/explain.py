"""Why the re-ranker gives a label its score: words by occlusion, and the share of each member.

The explained quantity is the re-ranker's score s before the sigmoid. With x the features of the label for this text
and x0 those for the text without words, the share of feature f is the integrated gradient of s on the straight line
from x0 to x. s is linear in x but for its hidden units, which are functions of one variable each, so the integral
is their mean slope (``explain/slopes.py``): shares add up to s(x) - s(x0) exactly. The share of a member is the
sum of those of its columns.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from longtail.explain.asked import Asked
from longtail.explain.explanation import Context, LabelExplanation, MemberShare
from longtail.explain.occlusion import by_occlusion
from longtail.explain.slopes import mean_slope, softsign
from longtail.explain.words import word_spans
from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.shortlist.candidates import Candidates
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
    shares = reranker_shares(_reranker(encoded), x, x0, system.group_[asked.labels])
    cosines = encoded.later_cosines(asked.candidates())
    raised = cosines**LATER_POWER > 1 / (1 + np.exp(-_logits(encoded, asked.candidates())))
    ends = np.cumsum([len(m.system.candidate_features) + 1 for m in system.members_])
    scores = [asked.candidates().scores_in(part, 0.0) for part in encoded.gathered.shortlists]
    return [
        replace(
            made,
            note=made.note + NOTE + (LATER.format(cosines[i]) if raised[i] else ""),
            members=[
                MemberShare(
                    member.name, float(shares[i, start:end].sum()), float(own[i]), _rank(x[i, end - 1])
                )
                for member, start, end, own in zip(
                    system.members_, [0, *ends[:-1].tolist()], ends.tolist(), scores, strict=True
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


def reranker_shares(reranker: Reranker, x: np.ndarray, x0: np.ndarray, group: np.ndarray) -> np.ndarray:
    """The share of each feature in s(x) - s(x0).

    Shapes:
        x, x0 [n, features], group int [n] -> float64 [n, features]
    """
    hidden = reranker.hidden.astype(np.float64)
    bias = reranker.hidden_bias[group].astype(np.float64)
    slopes = mean_slope(softsign, bias + x0 @ hidden, bias + x @ hidden) * reranker.output
    return np.asarray((reranker.weights[group] + slopes @ hidden.T) * (x - x0))


def reranker_logits(reranker: Reranker, x: np.ndarray, group: np.ndarray) -> np.ndarray:
    """s(x), float64 [n]."""
    units = softsign(reranker.hidden_bias[group] + x.astype(np.float64) @ reranker.hidden)
    return np.asarray(
        reranker.bias[group] + (reranker.weights[group] * x).sum(axis=1) + units @ reranker.output
    )


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
    x = _features(encoded, candidates)
    return reranker_logits(_reranker(encoded), x, encoded.group[candidates.ids])


def _rank(reciprocal: float) -> int | None:
    return round(1 / float(reciprocal)) if reciprocal > 0 else None
