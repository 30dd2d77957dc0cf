import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longtail.metrics import propensity, topk
from longtail.metrics.bins import by_bin, equal_volume_bins, frequency_bins
from tests.metrics.worlds import matrix, random_world, ranking


def test_frequency_bins_at_their_edges():
    bins = frequency_bins(np.array([0, 1, 5, 6, 20, 21, 100, 101, 9999]))
    assert bins.names == ["0", "1–5", "6–20", "21–100", ">100"]
    assert bins.of_label.tolist() == [0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_equal_volume_by_hand():
    bins = equal_volume_bins(np.array([10, 5, 5, 2, 2, 2, 2, 2, 10, 10, 0]))
    assert bins.of_label.tolist() == [2, 1, 1, 0, 0, 0, 0, 0, 3, 4, 0]
    assert bins.names == ["0–2", "5", "10", "10", "10"]


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(0, 30), min_size=300, max_size=600))
def test_equal_volume_bins_hold_about_the_same_and_rise(counts):
    counts = np.array(counts)
    bins = equal_volume_bins(counts)
    volumes = np.bincount(bins.of_label, weights=counts, minlength=5)
    assert (np.abs(volumes - counts.sum() / 5) <= counts.max()).all()
    order = np.argsort(counts, kind="stable")
    assert (np.diff(bins.of_label[order]) >= 0).all()


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from([1, 3, 5]))
def test_contributions_sum_to_the_whole(seed, k):
    truth, predicted = random_world(seed)
    Y, labels = matrix(truth, 25), ranking(predicted, 7)
    counts = np.random.default_rng(seed).integers(0, 150, 25)
    q = propensity.inverse_propensity(counts, 500)
    for bins in (frequency_bins(counts), equal_volume_bins(counts)):
        figures = by_bin(labels, Y, q, bins, k)
        assert sum(f.precision for f in figures) == pytest.approx(topk.precision(labels, Y, k))
        assert sum(f.psp for f in figures) == pytest.approx(propensity.psp(labels, Y, q, k))
        assert sum(f.assignments for f in figures) == Y.nnz
        assert sum(f.labels for f in figures) == 25
        assert all(0 <= f.recall <= 1 for f in figures)


def test_recall_of_a_bin_is_over_its_own_assignments():
    counts = np.array([0, 3, 200])
    figures = by_bin(
        ranking([[0, 2], [1, 2]], 2), matrix([[0, 1], [1, 2]], 3), np.ones(3), frequency_bins(counts), 2
    )
    assert [(f.name, f.assignments, f.hits, f.recall, f.precision) for f in figures] == [
        ("0", 1, 1, 1.0, 0.25),
        ("1–5", 2, 1, 0.5, 0.25),
        ("6–20", 0, 0, 0.0, 0.0),
        ("21–100", 0, 0, 0.0, 0.0),
        (">100", 1, 1, 1.0, 0.25),
    ]


def test_no_labels_and_no_training():
    assert equal_volume_bins(np.zeros(0, int)).names == ["–"] * 5
    assert equal_volume_bins(np.zeros(3, int)).of_label.tolist() == [0, 0, 0]
