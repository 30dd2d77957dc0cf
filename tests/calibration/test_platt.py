import numpy as np
import pytest

from longtail.calibration.platt import platt


def test_platt_scaling_finds_the_line_that_drew_the_labels() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(20, 5, 200_000).astype(np.float32)
    positive = rng.random(len(scores)) < 1 / (1 + np.exp(-(0.7 * scores - 17)))
    slope, intercept = platt(scores, positive)
    np.testing.assert_allclose([slope, intercept], [0.7, -17], rtol=0.03)


@pytest.mark.parametrize(
    ("scores", "positive"),
    [
        ([1.0, 2.0, 3.0, 4.0], [False, False, True, True]),
        ([1.0, 2.0, 3.0, 4.0], [True, True, False, False]),
        ([5.0, 5.0, 5.0], [True, False, False]),
        ([5.0], [True]),
        ([1e6, -1e6, 0.0], [True, False, False]),
    ],
)
def test_platt_scaling_is_finite_and_rising(scores: list[float], positive: list[bool]) -> None:
    slope, intercept = platt(np.array(scores, np.float32), np.array(positive))
    assert slope > 0
    assert np.isfinite([slope, intercept]).all()
    p = 1 / (1 + np.exp(-(slope * np.array(scores) + intercept)))
    assert ((p > 0) & (p < 1)).all()
