"""The popularity fallback: the answer to a document that no member can read."""

from __future__ import annotations

import numpy as np

from longtail.shortlist.candidates import Candidates
from longtail.systems.ensemble.popularity import DEPTH, PopularityFallback

COUNTS = np.array([2, 5, 0, 5, 1])


def answers(k: int) -> Candidates:
    """The labels 0 to k - 1 for each of three documents."""
    ids = np.tile(np.arange(k, dtype=np.int32), 3)
    return Candidates.from_counts(np.full(3, k), ids, np.full(3 * k, 0.75, np.float32))


def test_it_is_the_most_frequent_labels_with_their_shares() -> None:
    filled = PopularityFallback(COUNTS, 10).fill(answers(3), np.array([False, True, False]))
    top = filled.top_k(3)
    # Of equally frequent ones the first comes first.
    assert top.indices.tolist() == [[0, 1, 2], [1, 3, 0], [0, 1, 2]]
    np.testing.assert_allclose(top.scores, [[0.75] * 3, [0.5, 0.5, 0.2], [0.75] * 3])
    assert (filled.ids.dtype, filled.scores.dtype) == (np.int32, np.float32)
    # Within a document, ids of candidates rise.
    assert filled.ids[filled.indptr[1] : filled.indptr[2]].tolist() == [0, 1, 3, 4]


def test_candidates_that_came_in_stay_as_they_are() -> None:
    before = answers(2)
    filled = PopularityFallback(COUNTS, 10).fill(before, np.ones(3, bool))
    assert (before.ids == answers(2).ids).all()
    assert (before.scores == answers(2).scores).all()
    # What the members said of a document that they cannot read is gone.
    assert 0.75 not in filled.scores
    assert PopularityFallback(COUNTS, 10).fill(before, np.zeros(3, bool)) is before


def test_labels_without_documents_are_never_popular() -> None:
    top = PopularityFallback(COUNTS, 10).fill(answers(1), np.ones(3, bool)).top_k(8)
    assert top.indices[0].tolist() == [1, 3, 0, 4, -1, -1, -1, -1]
    assert (top.scores[0, 4:] == 0).all()


def test_there_are_at_most_so_many() -> None:
    deep = PopularityFallback(np.arange(200), 1000).fill(answers(1), np.ones(3, bool)).top_k(150)
    assert (deep.indices[:, :DEPTH] == np.arange(199, 199 - DEPTH, -1)).all()
    assert (deep.indices[:, DEPTH:] == -1).all()


def test_a_share_is_at_most_one() -> None:
    assert PopularityFallback(np.array([30]), 10).scores.tolist() == [1]
    assert PopularityFallback(np.array([1]), 0).scores.tolist() == [1]


def test_without_labels_or_documents_there_is_nothing() -> None:
    for counts in (np.zeros(4, np.int64), np.zeros(0, np.int64)):
        filled = PopularityFallback(counts, 0).fill(answers(1), np.ones(3, bool))
        assert filled.counts.tolist() == [0, 0, 0]
