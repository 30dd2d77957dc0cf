import napkinxc.metrics as peer
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from longtail import threads
from longtail.errors import UsageError
from longtail.metrics import propensity
from longtail.metrics.topk import FEW_ROWS
from tests.metrics.worlds import many_rows, matrix, random_world, ranking


def test_three_lowest_of_six_give_two_fifths():
    q = np.array([4.0, 5, 6, 1, 2, 3])
    Y = matrix([[0, 1, 2, 3, 4, 5]], 6)
    assert propensity.psp(ranking([[3, 4, 5]], 3), Y, q, 3) == pytest.approx(0.4)


def test_perfect_ranking_is_one():
    q = np.array([3.0, 1, 2, 5])
    Y = matrix([[0, 2], [1, 3]], 4)
    labels = ranking([[0, 2], [3, 1]], 2)
    for k in (1, 2):
        assert propensity.psp(labels, Y, q, k) == pytest.approx(1)
        assert propensity.psndcg(labels, Y, q, k) == pytest.approx(1)


def test_formula_by_hand():
    a, b, n = 0.55, 1.5, 1000
    expected = 1 + (np.log(n) - 1) * (b + 1) ** a * (7 + b) ** -a
    assert propensity.inverse_propensity(np.array([7]), n)[0] == pytest.approx(expected)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from(sorted(propensity.PRESETS)))
def test_agrees_with_napkinxc(seed, name):
    truth, predicted = random_world(seed)
    Y, labels = matrix(truth, 25), ranking(predicted, 7)
    a, b = propensity.preset(name)
    q = propensity.inverse_propensity(np.bincount(Y.indices, minlength=25), Y.shape[0], a, b)
    np.testing.assert_allclose(
        q, np.ravel(peer.Jain_et_al_inverse_propensity(csr_matrix(Y), A=a, B=b)), rtol=1e-6
    )
    for ours, theirs in (
        (propensity.psp, peer.psprecision_at_k),
        (propensity.psndcg, peer.psndcg_at_k),
    ):
        expected = theirs(truth, predicted, q, k=9)
        for k in (1, 3, 5, 9):
            assert ours(labels, Y, q, k) == pytest.approx(expected[k - 1], abs=1e-9)


def test_rarer_labels_weigh_more_and_never_less_than_one():
    q = propensity.inverse_propensity(np.arange(50), 1000)
    assert (np.diff(q) < 0).all()
    assert q.min() > 1


@pytest.mark.parametrize("n_train", [0, 1, 2])
def test_tiny_training_sets_weigh_all_labels_alike(n_train):
    assert propensity.inverse_propensity(np.array([0, 1, 2]), n_train).tolist() == [1, 1, 1]


def test_documents_without_gold_labels_do_not_change_a_ratio_of_sums():
    q = np.array([2.0, 3.0])
    with_empty = propensity.psp(ranking([[0], [1]], 1), matrix([[0, 1], []], 2), q, 1)
    assert with_empty == propensity.psp(ranking([[0]], 1), matrix([[0, 1]], 2), q, 1) == pytest.approx(2 / 3)


def test_many_documents_in_several_threads():
    Y = many_rows(3 * FEW_ROWS + 5)
    q = np.random.default_rng(1).random(50) + 1
    expected = -np.sort(-q * (Y.toarray() != 0), axis=1)[:, :3]
    for jobs in (1, 3):
        with threads.limit(jobs):
            assert (propensity.best_gains(Y, q, 3) == expected).all()


def test_nothing_to_win_is_zero():
    assert propensity.psp(ranking([[0]], 1), matrix([[]], 2), np.ones(2), 1) == 0


def test_wrong_arguments_are_refused():
    with pytest.raises(UsageError, match="no propensity preset 'amazn'"):
        propensity.preset("amazn")
    with pytest.raises(UsageError, match="2 propensities for 3 labels"):
        propensity.best_gains(matrix([[0]], 3), np.ones(2), 1)
    with pytest.raises(UsageError, match="positive"):
        propensity.inverse_propensity(np.ones(2), 10, 0.5, 0)
