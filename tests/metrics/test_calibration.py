import numpy as np
import pytest

from longtail.metrics.calibration import are_probabilities, expected_calibration_error, reliability


def test_curve_by_hand():
    labels = np.array([[0, 1], [2, -1]])
    scores = np.array([[0.95, 0.15], [1.0, 0.0]])
    hit = np.array([[True, True], [False, False]])
    low, high = reliability(labels, scores, hit)
    assert (low.low, low.high, low.count, low.score, low.accuracy) == (0.1, 0.2, 1, pytest.approx(0.15), 1.0)
    assert (high.count, high.score, high.accuracy) == (2, pytest.approx(0.975), 0.5)
    assert expected_calibration_error([low, high]) == pytest.approx((0.85 + 2 * 0.475) / 3)


def test_honest_scores_have_a_small_error():
    rng = np.random.default_rng(0)
    scores = rng.random((20_000, 3))
    curve = reliability(np.zeros((20_000, 3), int), scores, rng.random((20_000, 3)) < scores, n_bins=15)
    assert len(curve) == 15
    assert expected_calibration_error(curve) < 0.01


def test_what_counts_as_a_probability():
    assert are_probabilities(np.array([[1, -1]]), np.array([[0.5, -7.0]]))
    assert not are_probabilities(np.array([[1, 2]]), np.array([[0.5, 1.5]]))
    assert not are_probabilities(np.array([[1]]), np.array([[np.nan]]))
    assert not are_probabilities(np.array([[-1]]), np.array([[0.0]]))


def test_nothing_predicted():
    assert reliability(np.array([[-1]]), np.zeros((1, 1)), np.zeros((1, 1), bool)) == []
    assert expected_calibration_error([]) == 0
