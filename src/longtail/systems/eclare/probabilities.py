"""Scores of a ranking loss made log odds, so that their sigmoid is a probability that GAME can spread.

A ranking loss fixes differences of scores and not their level or unit. Platt scaling does: log odds = slope * score
+ intercept, fitted on the best labels of some documents. The slope goes into the weights and the intercept into the
bias, so that prediction has nothing to do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from longtail.calibration.platt import platt
from longtail.metrics.topk import hits
from longtail.shortlist.meta_shortlist import ClusterSearch

DEPTH = 50
"""Labels of highest score per document that the fit looks at: those that GAME spreads."""


@dataclass(frozen=True, slots=True)
class LogOdds:
    """log odds = slope * <classifier, document> + intercept."""

    slope: float = 1.0
    intercept: float = 0.0


def fit_log_odds(
    classifiers: np.ndarray, documents: np.ndarray, Y: csr_array, unscored: csr_array | None = None
) -> LogOdds | None:
    """Fitted on the labels of highest score of each document; None if none of them is positive, or all are.

    Shapes:
        classifiers [L, D], documents [n, D], Y and unscored (pairs that count neither way) [n, L]
    """
    found = ClusterSearch(classifiers).top(documents, DEPTH).top_k(DEPTH)
    there = found.indices >= 0
    if unscored is not None:
        there &= ~hits(found.indices, unscored)
    positive = hits(found.indices, Y)[there]
    if not positive.any() or positive.all():
        return None
    return LogOdds(*platt(found.scores[there], positive))
