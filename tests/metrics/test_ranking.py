import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail import threads
from longtail.errors import UsageError
from longtail.metrics.ranking import remove_filtered, top_k_of_csr
from longtail.metrics.topk import FEW_ROWS
from tests.metrics.worlds import many_rows, matrix, ranking


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000), st.integers(1, 12))
def test_top_k_is_a_full_sort_with_ties_to_the_lower_label(seed, k):
    rng = np.random.default_rng(seed)
    dense = rng.integers(-2, 4, size=(9, 15)).astype(np.float32)  # few values: many ties
    labels, scores = top_k_of_csr(csr_array(dense), k)
    for row in range(9):
        stored = np.flatnonzero(dense[row])
        best = sorted(stored, key=lambda c: (-dense[row, c], c))[:k]
        assert labels[row].tolist() == best + [-1] * (k - len(best))
        assert scores[row, : len(best)].tolist() == dense[row, best].tolist()
        assert not scores[row, len(best) :].any()


def test_many_rows_in_several_threads():
    scores = many_rows(3 * FEW_ROWS + 5)
    best = -np.sort(-scores.toarray(), axis=1)[:, :3]
    for jobs in (1, 3):
        with threads.limit(jobs):
            labels, values = top_k_of_csr(scores, 3)
        assert (values == best).all()
        there = labels >= 0
        assert (there == (best > 0)).all()
        assert (
            np.take_along_axis(scores.toarray(), np.maximum(labels, 0), axis=1)[there] == best[there]
        ).all()


def test_unsorted_rows_and_nan():
    scores = csr_array(
        (np.array([1.0, np.nan, 1.0, 2.0]), np.array([4, 0, 2, 3]), np.array([0, 4])), shape=(1, 5)
    )
    assert top_k_of_csr(scores, 4)[0].tolist() == [[3, 2, 4, -1]]


def test_more_asked_than_there_are_and_no_rows():
    labels, scores = top_k_of_csr(csr_array((0, 3), dtype=np.float32), 5)
    assert labels.shape == scores.shape == (0, 5)
    with pytest.raises(UsageError, match="at least 1"):
        top_k_of_csr(csr_array((1, 3)), 0)


def test_filtered_pairs_make_room_for_the_next():
    labels = ranking([[3, 1, 2], [0, 1], []], 3)
    scores = np.array([[0.9, 0.8, 0.7], [0.5, 0.4, 0], [0, 0, 0]], np.float32)
    kept, kept_scores = remove_filtered(labels, scores, matrix([[1], [0, 1], [2]], 4), 2)
    assert kept.tolist() == [[3, 2], [-1, -1], [-1, -1]]
    np.testing.assert_array_equal(kept_scores, np.array([[0.9, 0.7], [0, 0], [0, 0]], np.float32))


def test_filtering_pads_when_more_is_asked_than_there_is():
    kept, _ = remove_filtered(ranking([[1, 0]], 2), np.ones((1, 2), np.float32), matrix([[1]], 2), 4)
    assert kept.tolist() == [[0, -1, -1, -1]]
