"""Re-rankers of an ensemble are fitted on validation documents, one per set of members."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.run import Run
from longtail.systems.ensemble import train as module
from longtail.systems.ensemble.config import EnsembleConfig, RerankerConfig
from longtail.systems.ensemble.features import Gathered
from longtail.systems.ensemble.members import Member
from longtail.systems.ensemble.predict import Rerankers
from longtail.systems.ensemble.reranker import Reranker, frequency_groups
from longtail.systems.ensemble.train import FEWEST_DOCUMENTS, fit_rerankers
from longtail.text.feature_store import FeatureStore
from longtail.types import Dataset, Documents, LabelSet
from tests.systems.ensemble.worlds import Tabular, candidates_of, member

LABELS, N_TRAIN = 8, 100
COUNTS = np.full(LABELS, 20)


def validation(n: int = 120, seed: int = 0) -> Dataset:
    """Documents with two labels each, whose text is their row number."""
    rng = np.random.default_rng(seed)
    Y = np.zeros((n, LABELS), np.float32)
    for row in Y:
        row[rng.choice(LABELS, 2, replace=False)] = 1
    labels = LabelSet([str(label) for label in range(LABELS)], [""] * LABELS)
    return Dataset(Documents.of([str(row) for row in range(n)]), labels, csr_array(Y))


def informed(data: Dataset, strength: float, seed: int = 1) -> np.ndarray:
    """Scores that tell positives from negatives, more or less."""
    noise = np.random.default_rng(seed).standard_normal(data.Y.shape)
    return np.asarray(noise + strength * data.Y.toarray())


def fit(members: list[Member], valid: Dataset | None, run: Run | None = None, **settings: Any) -> Rerankers:
    config = EnsembleConfig(members=tuple(m.name for m in members), candidates=5, **settings)
    return fit_rerankers(members, valid, COUNTS, N_TRAIN, config, run or Run()).rerankers


def two(data: Dataset) -> list[Member]:
    return [member("good", informed(data, 4)), member("bad", informed(data, 0, seed=2))]


def test_there_is_a_reranker_per_set_of_members() -> None:
    data = validation()
    found = fit(two(data), data)
    assert list(found.by_members) == [("good",), ("good", "bad")]
    assert [r.weights.shape[1] for r in found.by_members.values()] == [3, 6]
    assert found.warm is None
    run = Run()
    alone = fit(two(data), data, run, reranker=RerankerConfig(subsets=False))
    assert list(alone.by_members) == [("good", "bad")]
    assert run.messages == []
    assert np.array_equal(alone.only.weights, found.by_members["good", "bad"].weights)


def test_the_member_that_is_right_gets_the_weight() -> None:
    data = validation()
    reranker = fit(two(data), data).by_members["good", "bad"]
    used = reranker.weights[frequency_groups(COUNTS)[0]]
    # score, double, reciprocal rank of the good one, then of the bad one
    assert np.abs(used[:2]).sum() > 5 * np.abs(used[3:5]).sum()
    assert used[2] > abs(used[5])


def weights_by_rank(reranker: Reranker, n_members: int) -> bool:
    expected = np.tile([0, 0, 1 / n_members], n_members)
    return bool(np.allclose(reranker.weights, expected) and (reranker.bias == 0).all())


@pytest.mark.parametrize("n", [None, 0, 1, FEWEST_DOCUMENTS - 1])
def test_too_few_documents_combine_members_by_reciprocal_ranks(n: int | None) -> None:
    data = validation()
    run = Run()
    found = fit(two(data), None if n is None else data.take(range(n)), run)
    assert run.messages == [
        f"{n or 0} validation documents are too few to fit a re-ranker (at least {FEWEST_DOCUMENTS}): members are "
        "combined by the mean of their reciprocal ranks"
    ]
    assert list(found.by_members) == [("good",), ("good", "bad")]
    assert weights_by_rank(found.by_members[("good",)], 1)
    assert weights_by_rank(found.by_members["good", "bad"], 2)
    # First in both is better than first in one.
    features = np.array([[0, 0, 1, 0, 0, 1], [9, 9, 1, 9, 9, 0.5], [0, 0, 0.5, 0, 0, 0.5]], np.float32)
    scores = found.by_members["good", "bad"](candidates_of([0, 1, 2]), features, np.zeros(3, np.int8)).scores
    assert scores[0] > scores[1] > scores[2]


def test_enough_documents_fit_a_reranker() -> None:
    data = validation()
    run = Run()
    found = fit(two(data), data.take(range(FEWEST_DOCUMENTS)), run)
    assert run.messages == []
    assert not weights_by_rank(found.by_members["good", "bad"], 2)


def test_without_a_positive_candidate_members_are_combined_by_reciprocal_ranks() -> None:
    data = validation()
    nobody = replace(data, Y=csr_array(data.Y.shape, dtype=np.float32))
    assert weights_by_rank(fit(two(data), nobody).by_members["good", "bad"], 2)


def test_at_most_so_many_documents_are_used() -> None:
    data = validation()
    members = two(data)
    sampled = fit(members, data, reranker=RerankerConfig(documents=60))
    encoded = [m.system.encoded_with for m in members if isinstance(m.system, Tabular)]
    assert [len(calls) for calls in encoded] == [1, 1]
    again = fit(members, data, reranker=RerankerConfig(documents=60))
    assert np.array_equal(sampled.by_members["good",].weights, again.by_members["good",].weights)
    other = fit(members, data, seed=1, reranker=RerankerConfig(documents=60))
    assert not np.array_equal(sampled.by_members["good",].weights, other.by_members["good",].weights)
    whole = fit(members, data, reranker=RerankerConfig(documents=120))
    default = fit(members, data)
    assert np.array_equal(whole.by_members["good",].weights, default.by_members["good",].weights)


def test_pairs_that_are_not_scored_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    data = validation()
    filtered = np.zeros(data.Y.shape, np.float32)
    filtered[:, 3] = 1
    seen = []
    monkeypatch.setattr(module, "fit_reranker", lambda candidates, features, held, config: seen.append(held))
    fit(two(data), replace(data, filtered=csr_array(filtered)))
    assert len(seen) == 2
    assert seen[0].Y[:, [3]].nnz == 0
    assert (seen[0].Y.toarray()[:, :3] == data.Y.toarray()[:, :3]).all()
    assert (seen[0].unscored.toarray() == filtered).all()
    assert (seen[0].train_counts == COUNTS).all()
    assert seen[0].n_train == N_TRAIN


def test_labels_that_training_does_not_have_are_left_out() -> None:
    data = validation()
    wide = data.relabelled(data.labels.extended(["else", "other"]))
    one, other = (fit(two(data), d).by_members["good", "bad"] for d in (data, wide))
    assert np.array_equal(one.weights, other.weights)


# --- revealed labels --------------------------------------------------------------------------------------


def with_warm(data: Dataset) -> list[Member]:
    """The second member is right where labels are revealed, and only there."""
    return [member("good", informed(data, 2)), member("warm", informed(data, 0, 2), informed(data, 6, 3))]


def test_a_reranker_is_fitted_for_documents_with_revealed_labels() -> None:
    data = validation()
    found = fit(with_warm(data), data)
    assert found.warm is not None
    cold = found.by_members["good", "warm"]
    # The first candidate is the one of the first member, the second that of the second.
    features = np.array([[2, 4, 1, 0, 0, 0.3], [0, 0, 0.3, 6, 12, 1]], np.float32)
    for reranker, best in ((cold, 0), (found.warm, 1)):
        scores = reranker(candidates_of([0, 1]), features, frequency_groups(COUNTS)).scores
        assert scores.argmax() == best


def test_half_of_the_labels_are_revealed_and_are_not_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    data = validation()
    # Documents with one label have none to reveal.
    Y = data.Y.toarray()
    Y[:20] = np.eye(LABELS)[0]
    filtered = np.zeros_like(Y)
    filtered[:, 5] = 1
    data = replace(data, Y=csr_array(Y), filtered=csr_array(filtered))
    members, seen = with_warm(data), []
    monkeypatch.setattr(module, "fit_reranker", lambda candidates, features, held, config: seen.append(held))
    fit(members, data)
    warm = members[1].system
    assert isinstance(warm, Tabular)
    (cold, _), (revealed, _) = warm.encoded_with
    assert cold is None
    assert revealed is not None
    held = seen[-1]
    scored = Y * (1 - filtered)
    several = scored.sum(axis=1) > 1
    assert held.Y.shape[0] == revealed.shape[0] == several.sum() < 100
    assert (revealed.sum(axis=1) == 1).all()
    assert (held.Y.toarray() + revealed.toarray() == scored[several]).all()
    assert ((held.unscored.toarray() > 0) == ((revealed.toarray() + filtered[several]) > 0)).all()
    # The member that cannot use them never gets them.
    good = members[0].system
    assert isinstance(good, Tabular)
    assert [given for given, _ in good.encoded_with] == [None, None]


def test_too_few_documents_with_two_labels_have_no_reranker_of_their_own() -> None:
    data = validation()
    Y = data.Y.toarray()
    Y[FEWEST_DOCUMENTS - 1 :] = np.eye(LABELS)[0]
    few = replace(data, Y=csr_array(Y))
    found = fit(with_warm(few), few)
    assert found.warm is None
    assert not weights_by_rank(found.by_members["good", "warm"], 2)


def test_scores_for_the_calibration_are_cross_fitted() -> None:
    data = validation()
    members = two(data)
    config = EnsembleConfig(members=("good", "bad"), candidates=5)
    found = fit_rerankers(members, data, COUNTS, N_TRAIN, config, Run())
    assert found.rows.tolist() == list(range(len(data)))
    assert list(found.unseen) == list(found.rerankers.by_members)
    unseen = found.unseen[("good", "bad")]
    encoded = [m.system._encode(data.documents, FeatureStore(data.documents)) for m in members]
    gathered = Gathered.of(encoded, 5)
    assert (unseen.ids == gathered.candidates.ids).all()
    features, group = gathered.features(), frequency_groups(COUNTS)
    seen = found.rerankers.by_members[("good", "bad")](gathered.candidates, features, group)
    assert not np.allclose(unseen.scores, seen.scores)
    assert np.corrcoef(unseen.scores, seen.scores)[0, 1] > 0.8
    # The labels of a document have no part in its own scores.
    changed = data.Y.toarray()
    half = module.halves(len(data))
    assert (half[:5] == 0).all()
    assert half.mean() == 0.5
    changed[half == 0] = 1 - changed[half == 0]
    other = fit_rerankers(members, replace(data, Y=csr_array(changed)), COUNTS, N_TRAIN, config, Run())
    held_out = (half == 0)[unseen.rows]
    np.testing.assert_array_equal(other.unseen[("good", "bad")].scores[held_out], unseen.scores[held_out])
    assert (other.unseen[("good", "bad")].scores[~held_out] != unseen.scores[~held_out]).any()


def test_without_calibration_nothing_is_cross_fitted() -> None:
    data = validation()
    config = EnsembleConfig(members=("good", "bad"), candidates=5, calibrate="none")
    assert fit_rerankers(two(data), data, COUNTS, N_TRAIN, config, Run()).unseen == {}
