"""The weights of a re-ranker follow the features that tell positives from negatives in the data."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.shortlist.candidates import Candidates
from longtail.systems.ensemble import reranker_fit
from longtail.systems.ensemble.config import RerankerConfig
from longtail.systems.ensemble.reranker import N_GROUPS, Reranker, frequency_groups
from longtail.systems.ensemble.reranker_fit import fit_reranker
from longtail.training.validation import ValidationSet
from tests.systems.ensemble.worlds import candidates_of

FEATURES = 6
LABELS, DOCUMENTS = 12, 150
RARE = np.arange(6)
COUNTS = np.where(np.arange(LABELS) < 6, 1, 200)
GROUP = frequency_groups(COUNTS)
USED = np.unique(GROUP)

World = tuple[Candidates, np.ndarray, csr_array, ValidationSet]


def world(seed: int = 0, n: int = DOCUMENTS) -> World:
    """Every label is a candidate of every document; each document has one rare and one frequent label."""
    rng = np.random.default_rng(seed)
    positive = np.zeros((n, LABELS), np.float32)
    positive[np.arange(n), rng.integers(0, 6, n)] = 1
    positive[np.arange(n), rng.integers(6, 12, n)] = 1
    candidates = candidates_of(*[range(LABELS)] * n)
    features = rng.standard_normal((n * LABELS, FEATURES)).astype(np.float32)
    Y = csr_array(positive)
    validation = ValidationSet(csr_array((n, 0), dtype=np.float32), Y, None, COUNTS, 1000)
    return candidates, features, Y, validation


def fit(
    candidates: Candidates, features: np.ndarray, validation: ValidationSet, balance: float = 0.0
) -> Reranker:
    found = fit_reranker(candidates, features, validation, RerankerConfig(balance=balance))
    assert found is not None
    return found


def found_first(reranker: Reranker, candidates: Candidates, features: np.ndarray, Y: csr_array) -> float:
    """P@1."""
    top = reranker(candidates, features, GROUP).top_k(1).indices[:, 0]
    return float(Y.toarray()[np.arange(len(top)), top].mean())


@pytest.mark.parametrize("column", range(FEATURES))
def test_the_feature_that_tells_positives_from_negatives_gets_the_weight(column: int) -> None:
    candidates, features, Y, validation = world()
    features[:, column] += 3 * Y.toarray().ravel()
    reranker = fit(candidates, features, validation)
    assert reranker.weights.shape == (N_GROUPS, FEATURES)
    used = reranker.weights[USED]
    assert (used.argmax(axis=1) == column).all()
    others = np.delete(used, column, axis=1)
    assert (used[:, [column]] > 3 * np.abs(others)).all()
    fresh, more, Y, _ = world(seed=1)
    more[:, column] += 3 * Y.toarray().ravel()
    assert found_first(reranker, fresh, more, Y) > 0.8


def test_the_hardest_candidates_give_the_same_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates, features, Y, validation = world()
    features[:, 0] += 3 * Y.toarray().ravel()
    features[:, 2] += Y.toarray().ravel()
    by_all = fit(candidates, features, validation)
    monkeypatch.setattr(reranker_fit, "MOST_CANDIDATES", 6)
    by_few = fit(candidates, features, validation)
    np.testing.assert_allclose(by_few.weights[USED], by_all.weights[USED], atol=0.35)
    assert not np.array_equal(by_few.weights, by_all.weights)
    fresh, more, Y, _ = world(seed=1)
    more[:, 0] += 3 * Y.toarray().ravel()
    more[:, 2] += Y.toarray().ravel()
    assert found_first(by_few, fresh, more, Y) > found_first(by_all, fresh, more, Y) - 0.03


def test_of_many_candidates_all_positives_and_the_best_negatives_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reranker_fit, "MOST_CANDIDATES", 3)
    candidates = candidates_of([0, 1, 2, 3, 4], [], [1, 2])
    features = np.arange(7, dtype=np.float32)[:, None]
    Y = csr_array(np.array([[0, 1, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 1, 0, 0]], np.float32))
    unscored = csr_array(np.array([[0, 0, 0, 0, 1], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]], np.float32))
    validation = ValidationSet(csr_array((3, 0)), Y, unscored, np.arange(5), 10)
    every = reranker_fit.Examples.of(candidates, features, validation, 0.0)
    few = every.best(np.array([0.1, 0, 0.3, 0.2, 0.9, 0, 0], np.float32))
    assert few.indptr.tolist() == [0, 3, 3, 5]
    # The positive 1, then 2 and 3; 4 is not scored.
    assert (few.x == every.x[[1, 2, 3, 5, 6]]).all()
    assert few.positive.tolist() == [True, False, False, False, True]
    assert few.negative.tolist() == [False, True, True, True, False]
    assert (few.group == every.group[[1, 2, 3, 5, 6]]).all()
    assert (few.weight == every.weight[[1, 2, 3, 5, 6]]).all()
    assert few.widest == 3


def test_groups_of_labels_have_weights_of_their_own() -> None:
    candidates, features, Y, validation = world()
    positive = Y.toarray().ravel()
    # One feature is about frequent labels, the other about rare ones.
    rare = np.isin(candidates.ids, RARE)
    features[:, 0] += 3 * positive * ~rare
    features[:, 3] += 3 * positive * rare
    reranker = fit(candidates, features, validation)
    of_rare, of_frequent = reranker.weights[frequency_groups(np.array([1, 200]))]
    assert of_rare[3] > of_rare[0] + 0.5
    assert of_frequent[0] > of_frequent[3] + 0.5


def test_a_group_without_candidates_has_the_weights_of_all_labels() -> None:
    candidates, features, Y, validation = world()
    features[:, 1] += 3 * Y.toarray().ravel()
    reranker = fit(candidates, features, validation)
    unused = np.setdiff1d(np.arange(N_GROUPS), USED)
    assert (reranker.weights[unused] == reranker.weights[unused[0]]).all()
    assert reranker.weights[unused[0]].argmax() == 1


def test_balance_lifts_rare_labels() -> None:
    candidates, features, Y, validation = world()
    features[:, 0] += Y.toarray().ravel()
    rare = np.isin(candidates.ids, RARE)
    scores = [
        fit(candidates, features, validation, balance)(candidates, features, GROUP).scores
        for balance in (0.0, 1.0)
    ]
    lift = [found[rare].mean() - found[~rare].mean() for found in scores]
    assert lift[1] > lift[0] + 0.05


def test_pairs_that_are_not_scored_are_neither_positive_nor_negative() -> None:
    candidates, features, Y, validation = world()
    features[:, 0] += 3 * Y.toarray().ravel()
    # Labels that look like positives and are negatives, all of them not scored.
    trap = np.zeros((DOCUMENTS, LABELS), np.float32)
    trap[:, 2] = 1 - Y.toarray()[:, 2]
    features[:, 3] += 9 * trap.ravel()
    unscored = replace(validation, unscored=csr_array(trap))
    blind, seeing = (fit(candidates, features, v) for v in (unscored, validation))
    group = GROUP[2]
    assert seeing.weights[group, 3] < blind.weights[group, 3] - 0.05
    # What is not scored does not count: its features may be anything of the same mean and scale.
    examples = reranker_fit.Examples.of(candidates, features, unscored, 0.0)
    assert not (examples.positive & examples.negative).any()
    neither = ~examples.positive & ~examples.negative
    assert (neither == (trap.ravel() > 0)).all()
    model = reranker_fit._Linear(FEATURES)
    before = model.gradient(examples, np.arange(DOCUMENTS))
    examples.x[neither] = 100
    assert (model.gradient(examples, np.arange(DOCUMENTS)) == before).all()


def test_without_a_positive_candidate_there_is_no_reranker() -> None:
    candidates, features, Y, validation = world()
    nobody = replace(validation, Y=csr_array(Y.shape, dtype=np.float32))
    assert fit_reranker(candidates, features, nobody, RerankerConfig()) is None


def test_without_any_candidate_there_is_no_reranker_and_no_warning() -> None:
    _, _, _, validation = world()
    nothing = candidates_of(*[[]] * DOCUMENTS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fit_reranker(nothing, np.empty((0, FEATURES), np.float32), validation, RerankerConfig())
    assert found is None


def test_documents_may_have_candidates_of_uneven_number_and_none() -> None:
    candidates = candidates_of([0, 1], [], [1])
    features = np.zeros((3, FEATURES), np.float32)
    features[:, 0] = [2, 0, 1]
    Y = csr_array(np.array([[1, 0], [1, 0], [0, 1]], np.float32))
    validation = ValidationSet(csr_array((3, 0)), Y, None, np.array([5, 5]), 10)
    reranker = fit(candidates, features, validation, 0.5)
    assert all(np.isfinite(values).all() for values in reranker.arrays().values())
    found = reranker(candidates, features, frequency_groups(np.array([5, 5])))
    assert found.top_k(1).indices[:, 0].tolist() == [0, -1, 1]


def test_the_same_data_give_the_same_weights() -> None:
    for n in (DOCUMENTS, MANY):
        candidates, features, _, validation = world(n=n)
        one, two = (fit(candidates, features, validation, 0.5) for _ in range(2))
        for name, values in one.arrays().items():
            assert (values == getattr(two, name)).all()


def test_a_constant_feature_has_no_weight() -> None:
    candidates, features, Y, validation = world()
    features[:, 0] += 3 * Y.toarray().ravel()
    # As those of a member that proposes nothing.
    features[:, 4], features[:, 5] = np.log(1e-6), 1e-6
    reranker = fit(candidates, features, validation, 0.2)
    assert (reranker.weights[:, 4:] == 0).all()
    features[:, 4:] = 0
    assert np.array_equal(fit(candidates, features, validation, 0.2).weights, reranker.weights)


# --- trees ------------------------------------------------------------------------------------------------

MANY = 800
"""Documents that are enough for trees."""


def with_a_gate(seed: int) -> World:
    """The second feature is high for positives where the third is high, and low for them where it is low."""
    candidates, features, Y, validation = world(seed, MANY)
    features[:, 0] *= 0.1
    gate = np.where(features[:, 2] > 0, 3, -3)
    features[:, 1] += gate * Y.toarray().ravel()
    return candidates, features, Y, validation


def test_trees_find_a_gate_that_a_linear_model_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates, features, _, validation = with_a_gate(0)
    with_trees = fit(candidates, features, validation)
    linear = fit_reranker(candidates, features, validation, RerankerConfig(balance=0.0, trees=0))
    assert linear is not None
    monkeypatch.setattr(reranker_fit, "ENOUGH_FOR_TREES", MANY + 1)
    too_few = fit(candidates, features, validation)
    assert len(with_trees.values) == RerankerConfig().trees
    assert len(too_few.values) == len(linear.values) == 0
    assert np.array_equal(too_few.weights, linear.weights)
    fresh, more, Y, _ = with_a_gate(1)
    assert found_first(with_trees, fresh, more, Y) > found_first(linear, fresh, more, Y) + 0.1


def test_documents_without_a_positive_candidate_do_not_count_for_trees() -> None:
    candidates, features, Y, validation = world(0, MANY)
    positive = Y.toarray()
    positive[499:] = 0
    few = replace(validation, Y=csr_array(positive))
    assert len(fit(candidates, features, few).values) == 0
    assert len(fit(candidates, features, validation).values) == RerankerConfig().trees


def test_trees_do_not_lift_easy_negatives(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates, features, Y, validation = world(0, MANY)
    features[:, 0] += 4 * Y.toarray().ravel()
    monkeypatch.setattr(reranker_fit, "MOST_CANDIDATES", 6)
    monkeypatch.setattr(reranker_fit, "BEST", 4)
    reranker = fit(candidates, features, validation)
    assert len(reranker.values) > 0
    fresh, more, Y, _ = world(1, MANY)
    more[:, 0] += 4 * Y.toarray().ravel()
    assert found_first(reranker, fresh, more, Y) > 0.9


def test_a_constant_feature_is_not_compared() -> None:
    candidates, features, Y, validation = world(0, MANY)
    features[:, 0] += 3 * Y.toarray().ravel()
    features[:, 4], features[:, 5] = np.log(1e-6), 1e-6
    reranker = fit(candidates, features, validation, 0.2)
    assert not np.isin(reranker.compared, [4, 5]).any()
    assert (reranker.weights[:, 4:] == 0).all()
    assert all(np.isfinite(values).all() for values in reranker.arrays().values())


# --- probabilities ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [DOCUMENTS, MANY])
def test_scores_are_probabilities(n: int) -> None:
    candidates, features, Y, validation = world(n=n)
    features[:, 0] += 1.5 * Y.toarray().ravel()
    reranker = fit(candidates, features, validation)
    fresh, more, Y, _ = world(1, 600)
    more[:, 0] += 1.5 * Y.toarray().ravel()
    scores, positive = reranker(fresh, more, GROUP).scores, Y.toarray().ravel()
    assert abs(scores.mean() - positive.mean()) < 0.02
    for low, high in ((0, 0.1), (0.1, 0.3), (0.3, 0.6), (0.6, 1)):
        some = (scores >= low) & (scores < high)
        assert abs(scores[some].mean() - positive[some].mean()) < 0.1


def test_where_all_is_easy_different_scores_stay_different() -> None:
    candidates, features, Y, validation = world()
    positive = Y.toarray().ravel()
    features[:] = 0.01 * features + positive[:, None]
    reranker = fit(candidates, features, validation)
    scores = reranker(candidates, features, GROUP).scores
    assert len(np.unique(scores[positive > 0])) > 0.9 * positive.sum()
    assert scores.max() < 1
    assert scores[positive > 0].min() > 0.9
    assert scores[positive == 0].max() < 0.1
