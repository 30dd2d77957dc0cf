import numpy as np
import pytest

from longtail.errors import UsageError
from longtail.metrics.bootstrap import GROUPS, intervals


@pytest.mark.parametrize("n", [2_000, 3 * GROUPS + 17])
def test_interval_of_a_mean_is_the_normal_one(n):
    values = np.random.default_rng(1).exponential(size=(n, 1))
    low, high = intervals(values, resamples=2000)[:, 0]
    error = values.std() / np.sqrt(n)
    assert low == pytest.approx(values.mean() - 1.96 * error, abs=0.25 * error)
    assert high == pytest.approx(values.mean() + 1.96 * error, abs=0.25 * error)


def test_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(2)
    covered = 0
    for trial in range(200):
        weights = rng.exponential(size=(150, 1))
        low, high = intervals(weights * (rng.random((150, 1)) < 0.3), weights, seed=trial, resamples=300)[
            :, 0
        ]
        covered += low <= 0.3 <= high
    assert 178 <= covered <= 200


def test_same_seed_same_interval_and_columns_stand_alone():
    rng = np.random.default_rng(3)
    above, below = rng.random((500, 3)), rng.random((500, 3))
    both = intervals(above, below, seed=5)
    np.testing.assert_array_equal(both, intervals(above, below, seed=5))
    np.testing.assert_allclose(both[:, 1:2], intervals(above[:, 1:2], below[:, 1:2], seed=5))
    assert (both != intervals(above, below, seed=6)).any()


def test_constant_documents_have_no_spread():
    np.testing.assert_allclose(intervals(np.full((50, 2), 0.25)), 0.25)


def test_edges():
    assert intervals(np.zeros((0, 2))).tolist() == [[0, 0], [0, 0]]
    assert intervals(np.zeros((4, 1)), np.zeros((4, 1))).tolist() == [[0], [0]]
    assert intervals(np.ones((1, 1))).tolist() == [[1], [1]]
    with pytest.raises(UsageError, match="level"):
        intervals(np.ones((1, 1)), level=1.5)
