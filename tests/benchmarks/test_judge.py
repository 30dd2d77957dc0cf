import numpy as np
import pytest
from scipy.sparse import csr_array

from benchmarks.contest_data import ContestData
from benchmarks.contestant import Source
from benchmarks.judge import judge


def contest(truth, filtered=None):
    truth = csr_array(np.array(truth, dtype=np.float32))
    left_out = None if filtered is None else csr_array(np.array(filtered, dtype=np.float32))
    counts = np.array([200, 3, 0, 1])
    return ContestData("", Source("", 0, ()), truth, left_out, counts, 300, {})


def test_figures_are_percentages():
    verdict = judge(
        np.array([[0, 1], [3, 2]]), np.ones((2, 2)), contest([[1, 1, 0, 0], [0, 0, 1, 0]])
    )  # fmt: skip
    assert verdict["metrics"]["P@1"] == 50
    assert verdict["metrics"]["P@5"] == pytest.approx(30)
    assert verdict["metrics"]["R@3"] == 100
    bins = {row["name"]: row for row in verdict["bins@5"]}
    assert [bins["0"]["hits"], bins[">100"]["hits"]] == [1, 1]
    assert sum(row["precision"] for row in verdict["bins@5"]) == pytest.approx(30)


def test_filtered_pairs_leave_their_place_to_the_next():
    predicted = np.array([[2, 0, 1]])
    data = contest([[1, 1, 0, 0]], filtered=[[0, 0, 1, 0]])
    assert judge(predicted, np.ones((1, 3)), data)["metrics"]["P@1"] == 100
