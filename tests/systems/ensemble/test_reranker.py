"""The re-ranker: one score from the features of a candidate, with weights by frequency group."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from longtail.errors import ModelIntegrityError
from longtail.storage import read_arrays, write_arrays
from longtail.systems.ensemble.reranker import (
    BEST,
    DEPTH,
    GROUP_STARTS,
    LEAVES,
    N_GROUPS,
    Reranker,
    frequency_groups,
)
from tests.systems.ensemble.worlds import candidates_of

FEATURES = 6


def random_reranker(trees: int = 0, seed: int = 0) -> Reranker:
    rng = np.random.default_rng(seed)

    def normal(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape).astype(np.float32)

    return Reranker(
        normal(N_GROUPS, FEATURES),
        normal(N_GROUPS),
        rng.integers(0, FEATURES + 1, (trees, DEPTH), np.int32),
        normal(trees, DEPTH),
        normal(trees, LEAVES),
    )


def probability(total: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-total)))


def test_groups_begin_at_their_frequencies() -> None:
    counts = np.array([0, 1, 2, 3, 4, 5, 10**6])
    assert frequency_groups(counts).tolist() == [0, 1, 2, 3, 3, 4, len(GROUP_STARTS)]
    assert len(GROUP_STARTS) + 1 == N_GROUPS


def test_the_score_is_the_weighted_sum_of_the_label_s_group() -> None:
    group = frequency_groups(np.array([0, 7, 1000]))
    reranker = random_reranker()
    candidates = candidates_of([0, 1, 2], [], [0, 2])
    features = np.random.default_rng(1).standard_normal((5, FEATURES)).astype(np.float32)
    found = reranker(candidates, features, group)
    g = group[candidates.ids]
    total = (reranker.weights[g] * features).sum(axis=1) + reranker.bias[g]
    np.testing.assert_allclose(found.scores, probability(total), rtol=1e-5)
    assert (found.ids == candidates.ids).all()
    assert (found.indptr == candidates.indptr).all()


def test_a_tree_adds_the_value_of_the_leaf() -> None:
    group = frequency_groups(np.array([0, 7, 1000]))
    reranker = random_reranker(trees=3)
    features = np.random.default_rng(1).standard_normal((3, FEATURES)).astype(np.float32)
    total = (reranker.weights[group] * features).sum(axis=1) + reranker.bias[group]
    x = np.column_stack([features, group])
    for tree in range(3):
        above = x[:, reranker.compared[tree]] > reranker.thresholds[tree]
        total += reranker.values[tree, above @ (2 ** np.arange(DEPTH)[::-1])]
    found = reranker(candidates_of([0, 1, 2]), features, group)
    np.testing.assert_allclose(found.scores, probability(total), rtol=1e-5)


def test_trees_score_the_best_candidates_and_the_others_stay_below_them() -> None:
    rng = np.random.default_rng(2)
    n = BEST + 40
    group, features = np.zeros(n, np.int8), rng.standard_normal((n, FEATURES)).astype(np.float32)
    candidates = candidates_of(range(n))
    reranker = random_reranker(trees=5)
    linear = Reranker.linear(reranker.weights, reranker.bias).logits(candidates, features, group)
    found = reranker.logits(candidates, features, group)
    best = np.argsort(-linear)[:BEST]
    rest = np.argsort(-linear)[BEST:]
    assert found[best].min() >= found[rest].max()
    # The order of the others is that of the linear part.
    assert (np.diff(found[rest]) <= 0).all()
    alone = reranker.logits(candidates_of(range(BEST)), features[best], group)
    np.testing.assert_allclose(found[best], alone, rtol=1e-5, atol=1e-5)


def test_a_mean_has_the_same_weights_for_all_labels() -> None:
    group = frequency_groups(np.array([0, 3, 900]))
    reranker = Reranker.mean(np.array([1.0, *[0.0] * (FEATURES - 1)]))
    features = np.full((3, FEATURES), 9, np.float32)
    features[:, 0] = [0, 1, -2]
    scores = reranker(candidates_of([0, 1, 2]), features, group).scores
    np.testing.assert_allclose(scores, probability(np.array([0.0, 1, -2])), rtol=1e-6)


def test_many_documents_are_scored_as_few() -> None:
    rng = np.random.default_rng(0)
    group = frequency_groups(rng.integers(0, 600, 50))
    reranker = random_reranker(trees=3)
    candidates = candidates_of(
        *(np.sort(rng.choice(50, rng.integers(0, 9), replace=False)) for _ in range(70))
    )
    features = rng.standard_normal((len(candidates.ids), FEATURES)).astype(np.float32)
    whole = reranker(candidates, features, group)
    for row in range(len(candidates)):
        entries = slice(candidates.indptr[row], candidates.indptr[row + 1])
        alone = reranker(candidates.take(row, row + 1), features[entries], group)
        assert (alone.scores == whole.scores[entries]).all()


def test_a_score_out_of_all_bounds_is_a_probability_still() -> None:
    reranker = Reranker.mean(np.array([1.0]))
    features = np.array([[1e6], [-1e6]], np.float32)
    scores = reranker(candidates_of([0, 1]), features, np.zeros(2, np.int8)).scores
    assert scores.tolist() == [1, 0]


# --- on disk ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trees", [0, 1, 16])
def test_it_is_loaded_as_it_was_saved(tmp_path: Path, trees: int) -> None:
    reranker = random_reranker(trees)
    reranker.save(tmp_path / "reranker")
    again = Reranker.load(tmp_path / "reranker", features=FEATURES)
    for name, values in reranker.arrays().items():
        assert np.array_equal(getattr(again, name), values)


@pytest.mark.parametrize("features", [0, FEATURES - 1, FEATURES + 1])
def test_another_number_of_features_is_refused(tmp_path: Path, features: int) -> None:
    random_reranker(2).save(tmp_path / "reranker")
    with pytest.raises(ModelIntegrityError, match=r"weights is \(9, 6\), but must be"):
        Reranker.load(tmp_path / "reranker", features=features)


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("weights", lambda found: found[:-1], "weights is"),
        ("weights", lambda found: found * np.float32(np.nan), "must be finite"),
        ("weights", lambda found: found.astype(np.float64), "must be of type float32"),
        ("weights", lambda found: found.ravel(), "must have 2 dimensions"),
        ("bias", lambda found: found[1:], "bias is"),
        ("compared", lambda found: found + FEATURES + 1, "compared"),
        ("compared", lambda found: found - FEATURES - 1, "compared"),
        ("thresholds", lambda found: found.T.copy(), "must be"),
        ("values", lambda found: found[1:], "must be"),
        ("values", lambda found: found + np.float32(np.inf), "must be finite"),
        ("values", None, "the array 'values' is missing"),
    ],
)
def test_damaged_arrays_are_refused(
    tmp_path: Path, name: str, wrong: Callable[[np.ndarray], np.ndarray] | None, says: str
) -> None:
    path = tmp_path / "reranker"
    random_reranker(2).save(path)
    arrays = dict(read_arrays(path))
    found = arrays.pop(name)
    if wrong is not None:
        arrays[name] = wrong(found)
    write_arrays(path, arrays)
    with pytest.raises(ModelIntegrityError, match=says):
        Reranker.load(path, features=FEATURES)
