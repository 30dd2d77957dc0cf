"""Mean slopes make shares add up."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from longtail.explain.slopes import mean_slope

NUMBERS = st.floats(-20, 20)


@given(NUMBERS, st.lists(NUMBERS, min_size=1, max_size=5))
def test_shares_add_up_to_the_difference(start, parts):
    stop = start + sum(parts)
    shares = mean_slope(np.arctan, np.array(start), np.array(stop)) * np.array(parts)
    expected = float(np.arctan(stop) - np.arctan(start))
    assert np.isclose(shares.sum(), expected, atol=1e-6)


def test_without_a_step_it_is_the_slope_there():
    assert np.isclose(mean_slope(np.exp, np.array(1.0), np.array(1.0)), np.e, rtol=1e-6)


def test_arrays_are_taken_element_by_element():
    found = mean_slope(np.square, np.array([0.0, 1.0]), np.array([2.0, 1.0]))
    assert np.allclose(found, [2.0, 2.0])
