"""The answer to a document of which nothing is known."""

from __future__ import annotations

import numpy as np

from longtail.systems.common.prior import DEPTH, Prior
from longtail.types import TopK

COUNTS = np.array([2, 5, 0, 5, 1])


def answers(k: int) -> TopK:
    labels = np.tile(np.arange(k, dtype=np.int32), (3, 1))
    return TopK(labels, np.full((3, k), 0.75, np.float32))


def test_it_is_the_most_frequent_labels_with_their_shares() -> None:
    top = Prior(COUNTS, 10).where(np.array([False, True, False]), answers(3))
    # Of equally frequent ones the first comes first.
    assert top.labels.tolist() == [[0, 1, 2], [1, 3, 0], [0, 1, 2]]
    np.testing.assert_allclose(top.scores, [[0.75] * 3, [0.5, 0.5, 0.2], [0.75] * 3])
    assert (top.labels.dtype, top.scores.dtype) == (np.int32, np.float32)


def test_answers_that_came_in_stay_as_they_are() -> None:
    before = answers(2)
    Prior(COUNTS, 10).where(np.ones(3, bool), before)
    assert (before.labels == answers(2).labels).all()
    assert (before.scores == answers(2).scores).all()
    untouched = Prior(COUNTS, 10).where(np.zeros(3, bool), before)
    assert (untouched.labels == before.labels).all()


def test_where_more_are_wanted_than_there_are_the_rest_is_empty() -> None:
    top = Prior(COUNTS, 10).where(np.ones(3, bool), answers(8))
    assert top.labels[0].tolist() == [1, 3, 0, 4, 2, -1, -1, -1]
    assert (top.scores[0, 5:] == 0).all()
    deep = Prior(np.arange(200), 1000).where(np.ones(3, bool), answers(150))
    assert (deep.labels[:, :DEPTH] == np.arange(199, 199 - DEPTH, -1)).all()
    assert (deep.labels[:, DEPTH:] == -1).all()


def test_a_share_is_at_most_one() -> None:
    assert Prior(np.array([30]), 10).scores.tolist() == [1]
