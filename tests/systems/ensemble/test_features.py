"""The features of a candidate: the columns of every member, and its reciprocal rank in each of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.shortlist.candidates import Candidates
from longtail.systems.ensemble.features import (
    Gathered,
    WithoutNewLabels,
    feature_names,
    reciprocal_ranks,
)
from tests.systems.ensemble.worlds import Table, candidates_of

NONE = np.nan
ONE = [[0.9, 0.1, NONE, 0.5], [NONE, NONE, NONE, NONE], [0.2, 0.3, 0.4, 0.1]]
TWO = [[NONE, NONE, 0.7, 0.8], [NONE, 0.6, NONE, NONE], [0.5, NONE, NONE, NONE]]


def test_columns_are_named_by_their_member() -> None:
    assert feature_names([("linear", ("log", "score")), ("knn", ("votes",))]) == [
        "linear.log",
        "linear.score",
        "linear.reciprocal_rank",
        "knn.votes",
        "knn.reciprocal_rank",
    ]


def test_candidates_are_the_best_of_each_member() -> None:
    gathered = Gathered.of([Table(ONE), Table(TWO)], 2)
    assert gathered.candidates.counts.tolist() == [3, 1, 3]
    assert gathered.candidates.ids.tolist() == [0, 2, 3, 1, 0, 1, 2]
    assert [s.ids.tolist() for s in gathered.shortlists] == [[0, 3, 1, 2], [2, 3, 1, 0]]


def test_a_member_that_gives_more_than_asked_for_is_cut() -> None:
    class Generous(Table):
        def shortlist(self, size: int) -> Candidates:
            return super().shortlist(size + 2)

    gathered = Gathered.of([Generous(ONE)], 1)
    assert gathered.candidates.ids.tolist() == [0, 2]


def test_a_document_that_a_member_cannot_read_has_none_of_its_candidates() -> None:
    gathered = Gathered.of([Table(ONE, [False, True, True]), Table(TWO)], 2)
    assert gathered.candidates.counts.tolist() == [2, 1, 3]
    assert gathered.candidates.ids[:2].tolist() == [2, 3]
    # Nor has it a rank there.
    assert gathered.features()[:2, 2].tolist() == [0, 0]


def test_features_are_columns_of_members_and_reciprocal_ranks() -> None:
    gathered = Gathered.of([Table(ONE), Table(TWO)], 2)
    found = gathered.features()
    assert found.dtype == np.float32
    expected = [
        # one: score, double, 1 / rank; two: the same
        [0.9, 1.8, 1, -9, -18, 0],
        [-9, -18, 0, 0.7, 1.4, 0.5],
        [0.5, 1.0, 0.5, 0.8, 1.6, 1],
        [-9, -18, 0, 0.6, 1.2, 1],
        [0.2, 0.4, 0, 0.5, 1.0, 1],
        [0.3, 0.6, 0.5, -9, -18, 0],
        [0.4, 0.8, 1, -9, -18, 0],
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_candidates_that_nobody_proposed_have_features_too() -> None:
    gathered = Gathered.of([Table(ONE), Table(TWO)], 2)
    found = gathered.features(candidates_of([1], [], [3]))
    np.testing.assert_allclose(found, [[0.1, 0.2, 0, -9, -18, 0], [0.1, 0.2, 0, -9, -18, 0]], rtol=1e-6)


def test_the_features_of_a_candidate_do_not_depend_on_the_others() -> None:
    gathered = Gathered.of([Table(ONE), Table(TWO)], 2)
    whole = gathered.features()
    rows, ids = gathered.candidates.rows, gathered.candidates.ids
    for entry in range(len(ids)):
        alone = candidates_of(*([int(ids[entry])] if row == rows[entry] else [] for row in range(3)))
        assert (gathered.features(alone) == whole[entry]).all()


@given(
    st.lists(
        st.dictionaries(st.integers(0, 20), st.sampled_from([0.1, 0.2, 0.3, 0.4]), max_size=8), max_size=40
    )
)
def test_ranks_are_those_of_a_stable_sort(rows: list[dict[int, float]]) -> None:
    lists = [sorted(row.items()) for row in rows]
    candidates = candidates_of(*([label for label, _ in row] for row in lists))
    candidates = candidates.with_scores(np.array([score for row in lists for _, score in row]))
    found = reciprocal_ranks(candidates, candidates)
    expected = []
    for row in lists:
        # Of equal scores the lower label has the better rank.
        order = sorted(row, key=lambda pair: -pair[1])
        expected += [1 / (1 + order.index(pair)) for pair in row]
    np.testing.assert_allclose(found, np.array(expected, np.float32), rtol=1e-6)


def test_what_a_shortlist_does_not_have_has_no_rank() -> None:
    shortlist = candidates_of([1, 4], [2], []).with_scores(np.array([0.2, 0.7, 0.5]))
    found = reciprocal_ranks(candidates_of([0, 1, 4, 9], [], [2]), shortlist)
    assert found.tolist() == [0, 0.5, 1, 0, 0]


# --- labels that came after training -----------------------------------------------------------------------


def test_a_label_that_a_member_does_not_have_gets_its_lowest_features() -> None:
    inner = Table([[0.9, 0.1, 0.4], [NONE, NONE, NONE]])
    member = WithoutNewLabels(inner, 3, size=2)
    found = member.features(candidates_of([0, 1, 3, 4], [3]))
    # Of the best two, the lowest is 0.4; a document without any has 0.
    np.testing.assert_allclose(found[:, 0], [0.9, 0.1, 0.4, 0.4, 0], rtol=1e-6)
    np.testing.assert_allclose(found[:, 1], 2 * found[:, 0], rtol=1e-6)
    # The member itself never hears of such a label.
    assert all((asked.ids < 3).all() for asked in inner.asked)


def test_known_labels_have_the_features_of_the_member() -> None:
    inner = Table(ONE)
    member = WithoutNewLabels(inner, 4, size=2)
    candidates = candidates_of([0, 3], [], [1])
    assert (member.features(candidates) == inner.features(candidates)).all()
    assert "lowest" not in vars(member)
    assert (member.shortlist(3).ids == inner.shortlist(3).ids).all()
    assert member.readable is inner.readable


@pytest.mark.parametrize("size", [1, 2, 4])
def test_a_new_label_s_features_do_not_depend_on_the_candidates(size: int) -> None:
    member = WithoutNewLabels(Table(ONE), 4, size)
    many = member.features(candidates_of([0, 1, 2, 3, 4], [4], [0, 4]))
    few = member.features(candidates_of([4], [4], [4]))
    assert (many[[4, 5, 7]] == few).all()
