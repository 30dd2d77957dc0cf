"""The threshold of the highest micro F1, by hand and against every other threshold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail.metrics.f1 import f1
from longtail.metrics.threshold import best_threshold


def test_by_hand():
    Y = csr_array(np.array([[1, 0, 0], [0, 1, 0]]))
    labels = np.array([[0, 2], [1, -1]])
    scores = np.array([[0.75, 0.25], [0.5, 0]], np.float32)
    assert best_threshold(labels, scores, Y) == pytest.approx(0.375)


def test_all_predictions_are_right():
    assert best_threshold(np.array([[0]]), np.array([[0.5]]), csr_array(np.array([[1]]))) == 0.25


@pytest.mark.parametrize("labels", [[[-1]], [[1]]])
def test_no_prediction_is_right(labels):
    assert best_threshold(np.array(labels), np.ones((1, 1)), csr_array(np.array([[1, 0]]))) is None


@given(
    st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=6),
    st.integers(0, 2**32 - 1),
)
def test_no_other_threshold_is_better(numbers, seed):
    rng = np.random.default_rng(seed)
    n = len(numbers)
    labels = np.array([rng.permutation(5)[:3] for _ in range(n)])
    scores = -np.sort(-np.array(numbers, np.float32) / 4, axis=1)
    Y = csr_array(rng.random((n, 5)) < 0.5)
    found = best_threshold(labels, scores, Y)
    every = [f1(labels, scores, Y, threshold)["micro"] for threshold in (0, 0.2, 0.4, 0.6, 0.8, 1.1)]
    if found is None:
        assert max(every) == 0
    else:
        assert f1(labels, scores, Y, found)["micro"] == pytest.approx(max(every))
