"""Candidates of a batch: right labels forced in, wrong ones of retrieved clusters, own labels neither."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail.systems.common.question import ask, positive_clusters

CODES = np.array([0, 0, 1, 1, 2, 2])
Y = csr_array(np.array([[1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0], [0, 0, 0, 0, 0, 0]], np.float32))
NOBODY = np.full(3, -1)


def test_clusters_of_right_labels() -> None:
    found = positive_clusters(Y, CODES, 3)
    assert found.tolist() == [[True, False, False], [False, True, True], [False, False, False]]


def test_own_candidates_are_the_labels_of_own_clusters() -> None:
    chosen = positive_clusters(Y, CODES, 3)
    asked = ask(Y, CODES, chosen, NOBODY, scope="own", most=None, seed=0)
    assert asked.columns.tolist() == [0, 1, 2, 3, 4, 5]
    assert (asked.shift == 0).all()
    assert (asked.positive == (Y.toarray() > 0)).all()
    assert asked.negative.tolist() == [
        [False, True, False, False, False, False],
        [False, False, True, False, False, True],
        [False] * 6,
    ]


def test_in_a_batch_every_label_in_play_is_wrong_for_those_without_it() -> None:
    chosen = np.array([[True, False, False], [False, True, True], [False, False, False]])
    asked = ask(Y, CODES, chosen, NOBODY, scope="batch", most=None, seed=0)
    assert (asked.negative == ~asked.positive).all()
    # Clusters that nobody retrieved are out of play.
    only = ask(Y[:1], CODES, chosen[:1], NOBODY[:1], scope="batch", most=None, seed=0)
    assert only.columns.tolist() == [0, 1]


def test_all_labels_where_there_are_no_clusters() -> None:
    asked = ask(Y, CODES, None, NOBODY, scope="own", most=None, seed=0)
    assert asked.columns.tolist() == list(range(6))
    assert (asked.negative == ~asked.positive).all()


def test_the_document_itself_is_neither_right_nor_wrong() -> None:
    asked = ask(Y, CODES, None, np.array([2, -1, 5]), scope="batch", most=None, seed=0)
    assert not asked.negative[0, 2]
    assert not asked.positive[0, 2]
    assert not asked.negative[2, 5]
    assert asked.negative[1, 2]


@given(most=st.integers(1, 6), seed=st.integers(0, 100))
def test_those_that_are_drawn_stand_for_all(most: int, seed: int) -> None:
    asked = ask(Y, CODES, None, NOBODY, scope="batch", most=most, seed=seed)
    wrong = [column for column in asked.columns.tolist() if column not in (0, 3, 4)]
    assert {0, 3, 4} <= set(asked.columns.tolist())
    assert len(wrong) == min(most, 3)
    assert (np.diff(asked.columns) > 0).all()
    # Labels that are right for somebody are in for certain, and stand for themselves.
    drawn = ~np.isin(asked.columns, [0, 3, 4])
    assert (asked.shift[~drawn] == 0).all()
    assert asked.shift[drawn] == pytest.approx(np.log(3 / most) if most < 3 else 0)
