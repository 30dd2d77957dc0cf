"""Weights of the parts of a score, chosen on validation documents, and the curve to probabilities.

s = cosine * cos(x, t_l) + label * x . v_l + votes * log(1 + votes_l / 0.01)
probability = sigmoid(slope * s + intercept)
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize

from longtail.errors import ModelIntegrityError
from longtail.shortlist.candidates import Candidates
from longtail.shortlist.scoring import sigmoid
from longtail.training.validation import DEPTH, ValidationSet, ranking_metrics, without_unscored

COSINE = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0)
"""Weights of the text cosine that are tried, where the label vector counts 1."""
VOTES = (0.0, 0.01, 0.02, 0.04, 0.08, 0.12, 0.2, 0.3)
"""Weights of the votes that are tried."""


DEFAULT_VOTES = 0.04
"""The weight of the votes without validation data."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What a part of the score counts, and the logistic curve."""

    cosine: float = 1.0
    label: float = 1.0
    votes: float = DEFAULT_VOTES
    slope: float = 1.0
    intercept: float = 0.0

    @classmethod
    def read(cls, found: Any) -> Self:
        """From JSON."""
        match found:
            case {"cosine": cosine, "label": label, "votes": votes, "slope": slope, "intercept": intercept}:
                numbers = (cosine, label, votes, slope, intercept)
                if all(isinstance(n, (int, float)) and np.isfinite(n) for n in numbers):
                    made = cls(*map(float, numbers))
                    if made.slope > 0 and made.votes >= 0:
                        return made
        raise ModelIntegrityError("the weights of the score are not those of a model")

    def to_json(self) -> dict[str, float]:
        """As it is stored."""
        return asdict(self)

    def score(self, features: np.ndarray) -> np.ndarray:
        """s of features [entries, 3], float32 [entries]."""
        # Part by part, so that a score does not depend on how many are computed at once.
        weights = np.array([self.cosine, self.label, self.votes], np.float32)
        return np.asarray((features * weights).sum(axis=1), np.float32)

    def probability(self, scores: np.ndarray) -> np.ndarray:
        """Of scores s; a higher one has a higher probability."""
        return sigmoid(np.float32(self.slope) * scores + np.float32(self.intercept))


def fit(start: Weights, candidates: Candidates, features: np.ndarray, validation: ValidationSet) -> Weights:
    """The weights of best overall ranking among those that are tried, and the curve of most likelihood.

    Args:
        start: a part of weight 0 stays out.
        candidates: of the validation documents.

    Shapes:
        features [entries, 3]
    """
    unscored = validation.unscored
    if unscored is not None:
        scored = ~np.isfinite(candidates.scores_in(Candidates.from_csr(unscored), np.nan))
        candidates, features = candidates.where(scored), features[scored]
    best, highest = start, -1.0
    for cosine, votes in product(COSINE if start.label else (1.0,), VOTES if start.votes else (0.0,)):
        tried = replace(start, cosine=cosine, votes=votes)
        found = candidates.with_scores(tried.score(features)).top_k(DEPTH).indices
        overall = ranking_metrics(without_unscored(found, unscored), validation)["overall"]
        if overall > highest:
            best, highest = tried, overall
    return with_curve(best, candidates, features, validation)


def with_curve(
    weights: Weights, candidates: Candidates, features: np.ndarray, validation: ValidationSet
) -> Weights:
    """The weights with slope and intercept of logistic regression."""
    truth = candidates.scores_in(Candidates.from_csr(validation.Y.astype(np.float32)), 0.0) > 0
    if not truth.any() or truth.all():
        return weights
    scores = weights.score(features).astype(np.float64)
    signs = np.where(truth, 1.0, -1.0)

    def loss(line: np.ndarray) -> tuple[float, np.ndarray]:
        margin = signs * (line[0] * scores + line[1])
        slopes = -signs / (1 + np.exp(np.clip(margin, -500, 500)))
        return float(np.logaddexp(0, -margin).mean()), np.array([(slopes * scores).mean(), slopes.mean()])

    start = np.array([1.0, np.log(truth.mean() / (1 - truth.mean()))])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(1e-3, None), (None, None)])
    return replace(weights, slope=float(found.x[0]), intercept=float(found.x[1]))
