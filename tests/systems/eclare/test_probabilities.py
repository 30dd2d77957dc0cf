"""Log odds from scores: slope and intercept against data drawn with known ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.systems.eclare.probabilities import DEPTH, LogOdds, fit_log_odds


def drawn(
    n: int = 400, labels: int = 60, slope: float = 2.0, intercept: float = -1.0
) -> tuple[np.ndarray, ...]:
    """Classifiers, documents, and labels that are right with the probability of their log odds."""
    rng = np.random.default_rng(0)
    classifiers, documents = (rng.standard_normal((m, 4)).astype(np.float32) for m in (labels, n))
    odds = slope * documents @ classifiers.T + intercept
    return classifiers, documents, rng.random(odds.shape) < 1 / (1 + np.exp(-odds))


def test_the_slope_and_the_intercept_are_those_of_the_data() -> None:
    classifiers, documents, truth = drawn()
    assert truth.shape[1] > DEPTH
    found = fit_log_odds(classifiers, documents, csr_array(truth.astype(np.float32)))
    assert found is not None
    assert found.slope == pytest.approx(2.0, abs=0.15)
    assert found.intercept == pytest.approx(-1.0, abs=0.15)


def test_pairs_that_do_not_count_are_left_out() -> None:
    classifiers, documents, truth = drawn()
    wrong = np.random.default_rng(1).random(truth.shape) < 0.3
    spoilt = csr_array((truth & ~wrong).astype(np.float32))
    found = fit_log_odds(classifiers, documents, spoilt, csr_array(wrong.astype(np.float32)))
    plain = fit_log_odds(classifiers, documents, spoilt)
    assert found is not None
    assert plain is not None
    assert found.slope == pytest.approx(2.0, abs=0.2)
    assert plain.slope < found.slope - 0.3


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_without_positives_or_without_negatives_there_is_nothing_to_fit(value: float) -> None:
    classifiers, documents, truth = drawn(n=20)
    Y = csr_array(np.full(truth.shape, value, np.float32))
    Y.eliminate_zeros()
    assert fit_log_odds(classifiers, documents, Y) is None


def test_by_default_scores_are_log_odds() -> None:
    assert LogOdds() == LogOdds(slope=1.0, intercept=0.0)
