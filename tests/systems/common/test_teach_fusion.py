"""The weights of a fusion follow what tells right labels from wrong ones in the data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.shortlist.candidates import Candidates
from longtail.systems.common import teach_fusion
from longtail.systems.common.fusion import Fusion, groups_of
from longtail.systems.common.teach_fusion import teach
from longtail.systems.common.validation import Held

KINDS = 6
LABELS, DOCUMENTS = 12, 150
RARE = np.arange(6)
COUNTS = np.where(np.arange(LABELS) < 6, 1, 200)


def world(seed: int = 0, n: int = DOCUMENTS) -> tuple[Candidates, np.ndarray, csr_array, Held]:
    """Every label is a candidate of every document; each document has one rare and one frequent label."""
    rng = np.random.default_rng(seed)
    right = np.zeros((n, LABELS), np.float32)
    right[np.arange(n), rng.integers(0, 6, n)] = 1
    right[np.arange(n), rng.integers(6, 12, n)] = 1
    ids = np.tile(np.arange(LABELS, dtype=np.int32), n)
    candidates = Candidates.from_counts(np.full(n, LABELS), ids, np.zeros(len(ids), np.float32))
    evidence = rng.standard_normal((len(ids), KINDS)).astype(np.float32)
    Y = csr_array(right)
    held = Held(csr_array((n, 2), dtype=np.float32), Y, None, COUNTS, 1000)
    return candidates, evidence, Y, held


def found_first(fusion: Fusion, candidates: Candidates, evidence: np.ndarray, Y: csr_array) -> float:
    top = fusion(candidates, evidence).top_k(1).labels[:, 0]
    return float(Y.toarray()[np.arange(len(top)), top].mean())


@pytest.mark.parametrize("kind", range(KINDS))
def test_the_kind_that_tells_right_from_wrong_gets_the_weight(kind: int) -> None:
    candidates, evidence, Y, held = world()
    evidence[:, kind] += 3 * Y.toarray().ravel()
    fusion = teach(candidates, evidence, held, balance=0.0)
    assert fusion.weights.shape == (9, KINDS)
    used = fusion.weights[np.unique(groups_of(COUNTS))]
    assert (used.argmax(axis=1) == kind).all()
    others = np.delete(used, kind, axis=1)
    assert (used[:, [kind]] > 3 * np.abs(others)).all()
    fresh, more, Y, _ = world(seed=1)
    more[:, kind] += 3 * Y.toarray().ravel()
    assert found_first(fusion, fresh, more, Y) > 0.8


def test_the_hardest_candidates_teach_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates, evidence, Y, held = world()
    evidence[:, 0] += 3 * Y.toarray().ravel()
    evidence[:, 2] += Y.toarray().ravel()
    by_all = teach(candidates, evidence, held, balance=0.0)
    monkeypatch.setattr(teach_fusion, "FEW", 6)
    by_few = teach(candidates, evidence, held, balance=0.0)
    used = np.unique(groups_of(COUNTS))
    np.testing.assert_allclose(by_few.weights[used], by_all.weights[used], atol=0.35)
    assert not np.array_equal(by_few.weights, by_all.weights)
    fresh, more, Y, _ = world(seed=1)
    more[:, 0] += 3 * Y.toarray().ravel()
    more[:, 2] += Y.toarray().ravel()
    assert found_first(by_few, fresh, more, Y) > found_first(by_all, fresh, more, Y) - 0.03


def test_groups_of_labels_have_weights_of_their_own() -> None:
    candidates, evidence, Y, held = world()
    right = Y.toarray()
    # The ranker knows the frequent labels, the text the rare ones.
    rare = np.isin(candidates.ids, RARE)
    evidence[:, 0] += 3 * right.ravel() * ~rare
    evidence[:, 3] += 3 * right.ravel() * rare
    fusion = teach(candidates, evidence, held, balance=0.0)
    of_rare, of_frequent = fusion.weights[groups_of(np.array([1, 200]))]
    assert of_rare[3] > of_rare[0] + 0.5
    assert of_frequent[0] > of_frequent[3] + 0.5
    assert (fusion.group == groups_of(COUNTS)).all()


def test_balance_lifts_rare_labels() -> None:
    candidates, evidence, Y, held = world()
    evidence[:, 0] += Y.toarray().ravel()
    rare = np.isin(candidates.ids, RARE)
    starts = [teach(candidates, evidence, held, balance=b)(candidates, evidence).scores for b in (0.0, 1.0)]
    lift = [scores[rare].mean() - scores[~rare].mean() for scores in starts]
    assert lift[1] > lift[0] + 0.05


def test_pairs_that_do_not_count_teach_nothing() -> None:
    candidates, evidence, Y, held = world()
    evidence[:, 0] += 3 * Y.toarray().ravel()
    # Labels that look right and are wrong, all of them left out.
    trap = np.zeros((DOCUMENTS, LABELS), np.float32)
    trap[:, 2] = 1 - Y.toarray()[:, 2]
    evidence[:, 3] += 9 * trap.ravel()
    left_out = Held(held.X, Y, csr_array(trap), COUNTS, 1000)
    blind, seeing = (teach(candidates, evidence, h, balance=0.0) for h in (left_out, held))
    group = groups_of(COUNTS)[2]
    assert seeing.weights[group, 3] < blind.weights[group, 3] - 0.05


def test_nothing_to_learn_from_leaves_the_ranker() -> None:
    candidates, evidence, Y, held = world()
    nobody = Held(held.X, csr_array(Y.shape, dtype=np.float32), None, COUNTS, 1000)
    fusion = teach(candidates, evidence, nobody, balance=0.5)
    assert (fusion.weights == [1, *[0] * (KINDS - 1)]).all()
    assert (fusion.start == 0).all()


def test_documents_may_have_candidates_of_uneven_number_and_none() -> None:
    candidates = Candidates.from_counts(
        np.array([2, 0, 1]), np.array([0, 1, 1], np.int32), np.zeros(3, np.float32)
    )
    evidence = np.zeros((3, KINDS), np.float32)
    evidence[:, 0] = [2, 0, 1]
    Y = csr_array(np.array([[1, 0], [1, 0], [0, 1]], np.float32))
    held = Held(csr_array((3, 2), dtype=np.float32), Y, None, np.array([5, 5]), 10)
    fusion = teach(candidates, evidence, held, balance=0.5)
    assert np.isfinite(fusion.weights).all()
    assert fusion(candidates, evidence).top_k(1).labels[0, 0] == 0


def test_the_same_data_give_the_same_weights() -> None:
    candidates, evidence, _, held = world()
    one, two = (teach(candidates, evidence, held, balance=0.5) for _ in range(2))
    assert (one.weights == two.weights).all()
    assert (one.start == two.start).all()


def test_what_is_the_same_for_all_has_no_weight() -> None:
    candidates, evidence, Y, held = world()
    evidence[:, 0] += 3 * Y.toarray().ravel()
    evidence[:, 4], evidence[:, 5] = np.log(1e-6), 1e-6  # as where there is no linear tree
    fusion = teach(candidates, evidence, held, balance=0.2)
    assert (fusion.weights[:, 4:] == 0).all()
    evidence[:, 4:] = 0
    assert np.array_equal(teach(candidates, evidence, held, balance=0.2).weights, fusion.weights)


MANY = 800
"""Documents that are enough for bends."""


def with_a_gate(seed: int) -> tuple[Candidates, np.ndarray, csr_array, Held]:
    """The second kind of evidence is right where the third is high, and misleads where it is low."""
    candidates, evidence, Y, held = world(seed, MANY)
    evidence[:, 0] *= 0.1
    gate = np.where(evidence[:, 2] > 0, 3, -3)
    evidence[:, 1] += gate * Y.toarray().ravel()
    return candidates, evidence, Y, held


def test_many_documents_teach_when_a_witness_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates, evidence, _, held = with_a_gate(0)
    bent = teach(candidates, evidence, held, balance=0.0)
    monkeypatch.setattr(teach_fusion, "ENOUGH", MANY + 1)
    straight = teach(candidates, evidence, held, balance=0.0)
    assert bent.weights.shape == (9, KINDS + teach_fusion.BENDS * (KINDS + 2))
    assert straight.weights.shape == (9, KINDS)
    fresh, more, Y, _ = with_a_gate(1)
    assert found_first(bent, fresh, more, Y) > found_first(straight, fresh, more, Y) + 0.1


def test_bends_do_not_lift_what_was_easy(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates, evidence, Y, held = world(0, MANY)
    evidence[:, 0] += 4 * Y.toarray().ravel()
    monkeypatch.setattr(teach_fusion, "FEW", 6)
    fusion = teach(candidates, evidence, held, balance=0.0)
    fresh, more, Y, _ = world(1, MANY)
    more[:, 0] += 4 * Y.toarray().ravel()
    assert found_first(fusion, fresh, more, Y) > 0.9


def test_what_is_the_same_for_all_bends_nothing() -> None:
    candidates, evidence, Y, held = world(0, MANY)
    evidence[:, 0] += 3 * Y.toarray().ravel()
    evidence[:, 4], evidence[:, 5] = np.log(1e-6), 1e-6  # as where there is no linear tree
    fusion = teach(candidates, evidence, held, balance=0.2)
    bends = fusion.weights[:, KINDS:].reshape(9, teach_fusion.BENDS, KINDS + 2)
    assert (bends[:, :, 4:KINDS] == 0).all()
    assert (np.abs(bends[:, :, :4]) > 0).any()
    assert np.isfinite(fusion.weights).all()


def test_many_right_candidates_teach_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates, evidence, Y, held = with_a_gate(0)
    short = teach(candidates, evidence, held, balance=0.0)
    monkeypatch.setattr(teach_fusion, "MANY_RIGHT", 2 * MANY)
    long = teach(candidates, evidence, held, balance=0.0)
    assert found_first(long, candidates, evidence, Y) > found_first(short, candidates, evidence, Y)
