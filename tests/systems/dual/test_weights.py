"""Weights of the score: the best of those that are tried, and a curve that rises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.errors import ModelIntegrityError
from longtail.shortlist.candidates import Candidates
from longtail.systems.dual.weights import Weights, fit
from longtail.training.validation import ValidationSet

N, LABELS = 60, 12


def world(part: int, unscored: csr_array | None = None) -> tuple[Candidates, np.ndarray, ValidationSet]:
    """All labels are candidates; one part of the score knows the right one, the others are noise."""
    rng = np.random.default_rng(0)
    right = rng.integers(0, LABELS, N)
    features = rng.random((N * LABELS, 3)).astype(np.float32)
    truth = np.zeros((N, LABELS), np.float32)
    truth[np.arange(N), right] = 1
    features[:, part] = truth.ravel() * 2 + rng.random(N * LABELS)
    ids = np.tile(np.arange(LABELS, dtype=np.int32), N)
    candidates = Candidates.from_counts(np.full(N, LABELS), ids, np.zeros(N * LABELS, np.float32))
    nothing = csr_array(np.zeros((N, 0), np.float32))
    return (
        candidates,
        features,
        ValidationSet(nothing, csr_array(truth), unscored, np.full(LABELS, 5), 60),
    )


def p_at_1(weights: Weights, candidates: Candidates, features: np.ndarray, truth: ValidationSet) -> float:
    best = candidates.with_scores(weights.score(features)).top_k(1).indices[:, 0]
    return float(truth.Y.toarray()[np.arange(N), best].mean())


@pytest.mark.parametrize("part", [0, 1, 2])
def test_the_part_that_knows_counts_most(part: int) -> None:
    candidates, features, truth = world(part)
    start = Weights()
    found = fit(start, candidates, features, truth)
    assert p_at_1(found, candidates, features, truth) >= p_at_1(start, candidates, features, truth)
    if part < 2:
        assert p_at_1(found, candidates, features, truth) > 0.95
    assert found.slope > 0
    probability = found.probability(found.score(features))
    right = truth.Y.toarray().ravel() > 0
    assert probability[right].mean() > probability[~right].mean()
    assert (np.diff(found.probability(np.sort(found.score(features)))) >= 0).all()


def test_a_part_that_is_not_there_stays_out() -> None:
    candidates, features, truth = world(0)
    found = fit(Weights(label=0.0, votes=0.0), candidates, features, truth)
    assert (found.cosine, found.label, found.votes) == (1.0, 0.0, 0.0)


def test_pairs_that_are_not_scored_do_not_count() -> None:
    candidates, features, truth = world(0)
    # What the cosine likes best is never scored: label 0 of every document.
    features[candidates.ids == 0] = [9, 0, 0]
    pairs = csr_array(np.eye(1, LABELS, dtype=np.float32).repeat(N, axis=0))
    Y = csr_array(truth.Y - truth.Y.multiply(pairs))
    Y.eliminate_zeros()
    scored = ValidationSet(truth.X, Y, pairs, truth.train_counts, truth.n_train)
    found = fit(Weights(), candidates, features, scored)
    assert found.cosine > 0
    # As a negative of the highest score it would have turned the curve flat.
    assert found.slope > 1


def test_no_positive_leaves_the_curve_as_it_is() -> None:
    candidates, features, truth = world(0)
    empty = ValidationSet(truth.X, csr_array((N, LABELS), dtype=np.float32), None, truth.train_counts, 60)
    assert fit(Weights(), candidates, features, empty).slope == 1


def test_json_there_and_back() -> None:
    weights = Weights(1.5, 1.0, 0.1, 2.0, -3.0)
    assert Weights.read(weights.to_json()) == weights
    for wrong in (None, {}, {**weights.to_json(), "slope": 0}, {**weights.to_json(), "votes": "1"}):
        with pytest.raises(ModelIntegrityError, match="weights of the score"):
            Weights.read(wrong)
