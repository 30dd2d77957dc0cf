"""Scores of candidates against the dense product."""

import numpy as np
import pytest

from longtail.errors import UsageError
from longtail.shortlist.candidates import Candidates
from longtail.shortlist.scoring import score, score_missing, sigmoid, softmax

RNG = np.random.default_rng(3)
CLASSIFIERS = RNG.normal(size=(60, 37)).astype(np.float32)
X = RNG.normal(size=(50, 37)).astype(np.float32)


def test_the_dense_product_at_the_candidates() -> None:
    chosen = Candidates.from_dense(RNG.random((50, 60)), 9)
    scored = score(X, chosen, CLASSIFIERS)
    assert scored.scores.dtype == np.float32
    assert np.allclose(scored.scores, (X @ CLASSIFIERS.T)[chosen.rows, chosen.ids], atol=1e-5)
    alone = [score(X[[i]], chosen.take(i, i + 1), CLASSIFIERS).scores for i in range(50)]
    assert (np.concatenate(alone) == scored.scores).all()


def test_no_candidates() -> None:
    nothing = Candidates.from_padded(np.full((50, 2), -1), np.zeros((50, 2)))
    assert len(score(X, nothing, CLASSIFIERS).ids) == 0


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match="do not fit"):
        score(X[:3], Candidates.from_dense(RNG.random((50, 60)), 9), CLASSIFIERS)


@pytest.mark.parametrize("known", [0, 1, 9, 60])
@pytest.mark.parametrize("wanted", [1, 9, 60])
def test_missing_scores_are_computed_and_the_others_looked_up(known: int, wanted: int) -> None:
    scored = score(X, Candidates.from_dense(RNG.random((50, 60)), known), CLASSIFIERS)
    # Scores that no product gives: what is looked up can be told from what is computed.
    scored = scored.with_scores(scored.scores + 1000)
    candidates = Candidates.from_dense(RNG.random((50, 60)), wanted)
    found = score_missing(X, candidates, scored, CLASSIFIERS, 0.5)
    assert found.dtype == np.float32
    expected = (X @ CLASSIFIERS.T)[candidates.rows, candidates.ids] + 0.5
    there = candidates.scores_in(scored, fill=np.nan)
    missing = np.isnan(there)
    assert missing.any() == (known < 60)
    np.testing.assert_allclose(found[missing], expected[missing], atol=1e-5)
    assert (found[~missing] == there[~missing]).all()


def test_a_score_is_the_same_to_the_last_bit_looked_up_or_computed() -> None:
    nothing = Candidates.from_padded(np.full((50, 1), -1), np.zeros((50, 1)))
    whole = score(X, Candidates.from_dense(np.zeros((50, 60)), 60), CLASSIFIERS)
    whole = whole.with_scores(whole.scores + np.float32(0.1))
    some = Candidates.from_dense(RNG.random((50, 60)), 7)
    computed = score_missing(X, some, nothing, CLASSIFIERS, 0.1)
    assert (computed == score_missing(X, some, whole, CLASSIFIERS, 0.1)).all()


def test_missing_scores_of_no_candidates_and_of_other_documents() -> None:
    nothing = Candidates.from_padded(np.full((50, 2), -1), np.zeros((50, 2)))
    some = Candidates.from_dense(RNG.random((50, 60)), 3)
    assert score_missing(X, nothing, some, CLASSIFIERS, 1.0).shape == (0,)
    with pytest.raises(UsageError, match="of 50 and of 20 documents"):
        score_missing(X, some, some.take(0, 20), CLASSIFIERS, 0.0)


def test_softmax_is_over_the_candidates_of_a_document() -> None:
    found = Candidates.from_counts(
        np.array([3, 0, 2]), np.array([0, 1, 4, 2, 3], np.int32), np.array([1, 2, 3, 900, 890], np.float32)
    )
    scores = softmax(found).scores
    first, last = np.exp([1.0, 2, 3]), np.exp([0.0, -10])
    np.testing.assert_allclose(scores, [*first / first.sum(), *last / last.sum()], rtol=1e-6)
    # Alone as among others, to the last bit.
    assert (softmax(found.take(0, 1)).scores == scores[:3]).all()
    assert not len(softmax(found.take(1, 2)).ids)


def test_softmax_keeps_the_order_where_a_sigmoid_saturates() -> None:
    raw = np.array([60, 25, 30, 20, -20], np.float32)
    found = softmax(Candidates.from_counts(np.array([5]), np.arange(5, dtype=np.int32), raw)).scores
    assert np.array_equal(np.argsort(found), np.argsort(raw))
    assert len(set(found.tolist())) == 5


def test_sigmoid_keeps_the_order_of_low_scores_and_does_not_overflow() -> None:
    x = np.array([-1000, -60, -30, -20, -1, 0, 1, 15, 1000], np.float32)
    found = sigmoid(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[1:-1], 1 / (1 + np.exp(-x[1:-1].astype(np.float64))), rtol=1e-6)
    assert (found[0], found[-1]) == (0, 1)
    assert (np.diff(found) > 0).all()
