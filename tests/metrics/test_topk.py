import napkinxc.metrics as peer
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail import threads
from longtail.errors import UsageError
from longtail.metrics import topk
from tests.metrics.worlds import many_rows, matrix, random_world, ranking


def test_small_case_by_hand():
    Y = matrix([[0, 2], [1], []], 4)
    labels = ranking([[2, 3, 0], [0], [1, 2]], 3)
    assert topk.hits(labels, Y).tolist() == [[True, False, True], [False] * 3, [False] * 3]
    assert topk.precision(labels, Y, 1) == pytest.approx(1 / 3)
    assert topk.precision(labels, Y, 3) == pytest.approx(2 / 9)
    assert topk.recall(labels, Y, 3) == pytest.approx(1 / 3)
    best = 1 + 1 / np.log2(3)
    assert topk.ndcg(labels, Y, 3) == pytest.approx((1 + 1 / np.log2(4)) / best / 3)
    assert topk.coverage(labels, Y, 3) == pytest.approx(2 / 3)


def test_perfect_ranking_is_one():
    Y = matrix([[0, 2], [1, 3], [3, 4]], 5)
    labels = ranking([[0, 2], [1, 3], [4, 3]], 2)
    assert topk.precision(labels, Y, 1) == topk.precision(labels, Y, 2) == 1
    assert topk.ndcg(labels, Y, 2) == pytest.approx(1)
    assert topk.recall(labels, Y, 2) == topk.coverage(labels, Y, 2) == 1


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000))
def test_agrees_with_napkinxc(seed):
    # napkinXC counts 0 for a document without gold labels, as we do, so the definitions coincide everywhere.
    truth, predicted = random_world(seed)
    Y, labels = matrix(truth, 25), ranking(predicted, 7)
    for ours, theirs in (
        (topk.precision, peer.precision_at_k),
        (topk.recall, peer.recall_at_k),
        (topk.ndcg, peer.ndcg_at_k),
        (topk.coverage, peer.coverage_at_k),
    ):
        expected = theirs(truth, predicted, k=9)
        for k in (1, 3, 5, 9):
            assert ours(labels, Y, k) == pytest.approx(expected[k - 1], abs=1e-9)


def test_unsorted_and_repeated_truth_entries():
    Y = csr_array((np.ones(4, np.float32), np.array([3, 1, 1, 2]), np.array([0, 4])), shape=(1, 5))
    assert topk.hits(np.array([[1, 2, 3, 4]], np.int32), Y).tolist() == [[True, True, True, False]]
    assert topk.row_sizes(Y).tolist() == [3]
    assert Y.indices.tolist() == [3, 1, 1, 2], "the caller's matrix is left alone"


def test_many_documents_in_several_threads():
    Y = many_rows(3 * topk.FEW_ROWS + 5)
    labels = np.random.default_rng(1).integers(-1, 50, (Y.shape[0], 4)).astype(np.int32)
    stored = Y.toarray() != 0
    expected = (labels >= 0) & np.take_along_axis(stored, np.maximum(labels, 0), axis=1)
    for jobs in (1, 3):
        with threads.limit(jobs):
            assert (topk.hits(labels, Y) == expected).all()


def test_label_unknown_to_the_truth_is_a_miss():
    assert not topk.hits(np.array([[7, -1]], np.int32), matrix([[0, 1]], 2)).any()


def test_no_documents_and_no_labels():
    nothing = csr_array((0, 3), dtype=np.float32)
    labels = np.zeros((0, 5), np.int32)
    assert topk.precision(labels, nothing, 5) == topk.recall(labels, nothing, 5) == 0
    assert topk.ndcg(labels, nothing, 5) == topk.coverage(labels, nothing, 5) == 0


def test_shortlist_recall_skips_what_is_too_narrow():
    Y = matrix([[0, 11], [5]], 12)
    candidates = ranking([list(range(12)), [4, 5]], 12)
    assert topk.shortlist_recall(candidates, Y, at=(1, 10, 12, 100)) == {1: 0.25, 10: 0.75, 12: 1.0}


def test_wrong_shapes_are_refused():
    with pytest.raises(UsageError, match="3 documents"):
        topk.hits(np.zeros((2, 1), np.int32), matrix([[0]] * 3, 1))
    with pytest.raises(UsageError, match="at least 1"):
        topk.precision(np.zeros((1, 1), np.int32), matrix([[0]], 1), 0)
