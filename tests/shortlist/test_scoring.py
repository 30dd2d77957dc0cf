"""Scores of candidates against the dense product."""

import numpy as np
import pytest

from longtail.errors import UsageError
from longtail.shortlist.candidates import Candidates
from longtail.shortlist.scoring import score

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
