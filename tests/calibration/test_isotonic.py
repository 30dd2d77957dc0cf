import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.calibration.isotonic import isotonic

PAIRS = st.lists(st.tuples(st.floats(-5, 5), st.floats(0.1, 10)), min_size=1, max_size=40)


def test_violators_are_pooled() -> None:
    assert isotonic(np.array([1.0, 3.0, 2.0, 4.0]), np.ones(4)).tolist() == [1, 2.5, 2.5, 4]
    assert isotonic(np.array([3.0, 0.0]), np.array([1.0, 2.0])).tolist() == [1, 1]


@given(PAIRS)
def test_as_scikit_learn_has_it(pairs: list[tuple[float, float]]) -> None:
    regression = pytest.importorskip("sklearn.isotonic")
    values, weights = (np.array(column) for column in zip(*pairs, strict=True))
    expected = regression.isotonic_regression(values, sample_weight=weights)
    np.testing.assert_allclose(isotonic(values, weights), expected, atol=1e-9)


@given(PAIRS)
def test_it_rises_and_keeps_the_mean(pairs: list[tuple[float, float]]) -> None:
    values, weights = (np.array(column) for column in zip(*pairs, strict=True))
    found = isotonic(values, weights)
    assert (np.diff(found) >= 0).all()
    assert (found * weights).sum() == pytest.approx((values * weights).sum(), abs=1e-9)
