"""Prediction with an ensemble: gather candidates, compute features, re-rank, fall back."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.systems.ensemble.popularity import PopularityFallback
from longtail.systems.ensemble.predict import Encoded, Rerankers
from longtail.systems.ensemble.reranker import Reranker, frequency_groups
from tests.systems.ensemble.worlds import Table, candidates_of

NONE = np.nan
COUNTS = np.array([5, 3, 0, 1])
ONE = [[0.9, 0.1, NONE, 0.5], [NONE, NONE, NONE, NONE], [0.2, 0.3, 0.4, 0.1]]
TWO = [[NONE, NONE, 0.7, 0.8], [NONE, 0.6, NONE, NONE], [0.5, NONE, NONE, NONE]]

BY_FIRST = Reranker.mean(np.array([1.0, 0, 0, 0, 0, 0]))
"""Ranks by the score of the first member."""
BY_SECOND = Reranker.mean(np.array([0, 0, 0, 1.0, 0, 0]))


def encoded(
    readable: tuple[list[bool], list[bool]] | None = None,
    warm: Reranker | None = None,
    revealed: csr_array | None = None,
    candidates: int = 2,
) -> Encoded:
    first, second = readable or ([True] * 3, [True] * 3)
    return Encoded(
        [Table(ONE, first), Table(TWO, second)],
        Rerankers({("one", "two"): BY_FIRST}, warm),
        frequency_groups(COUNTS),
        PopularityFallback(COUNTS, 10),
        candidates,
        revealed,
    )


def sigmoid(x: float) -> float:
    return float(1 / (1 + np.exp(-x)))


def test_candidates_of_all_members_are_scored_by_the_reranker() -> None:
    top = encoded().top_k(4)
    assert top.indices.tolist() == [[0, 3, 2, -1], [1, -1, -1, -1], [2, 1, 0, -1]]
    np.testing.assert_allclose(top.scores[0], [sigmoid(0.9), sigmoid(0.5), sigmoid(-9), 0], rtol=1e-5)


def test_a_shortlist_has_the_best_of_them_and_scores_do_not_depend_on_its_size() -> None:
    documents = encoded()
    wide, narrow = documents.shortlist(10), documents.shortlist(1)
    assert narrow.best(1).ids.tolist() == [0, 1, 2]
    assert narrow.scores.tolist() == narrow.scores_in(wide, -1.0).tolist()


def test_features_are_the_probabilities_of_any_candidates() -> None:
    documents = encoded()
    found = documents.shortlist(10)
    assert (documents.features(found)[:, 0] == found.scores).all()
    # Labels that no member proposed.
    features = documents.features(candidates_of([1], [], [3]))
    assert features.shape == (2, 1)
    np.testing.assert_allclose(features[:, 0], [sigmoid(0.1)] * 2, rtol=1e-5)


def test_a_document_that_no_member_can_read_gets_the_most_frequent_labels() -> None:
    documents = encoded(readable=([True, False, False], [True, False, True]))
    assert documents.readable.all()
    top = documents.top_k(4)
    assert top.indices[1].tolist() == [0, 1, 3, -1]
    np.testing.assert_allclose(top.scores[1], [0.5, 0.3, 0.1, 0], rtol=1e-6)
    # One that can read it is enough.
    assert top.indices[2].tolist() == [0, -1, -1, -1]
    assert top.indices[0].tolist() == [0, 3, 2, -1]


def test_documents_with_revealed_labels_have_a_reranker_of_their_own() -> None:
    revealed = csr_array(np.array([[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], np.float32))
    cold, warm = encoded(), encoded(warm=BY_SECOND, revealed=revealed)
    assert warm.top_k(3).indices.tolist() == [[3, 2, 0], [1, -1, -1], [2, 1, 0]]
    assert (warm.top_k(3).indices[1:] == cold.top_k(3).indices[1:]).all()
    assert (warm.top_k(3).scores[1:] == cold.top_k(3).scores[1:]).all()
    # Without it, or without revealed labels, there is one for all.
    assert (encoded(revealed=revealed).top_k(3).indices == cold.top_k(3).indices).all()
    assert (encoded(warm=BY_SECOND).top_k(3).indices == cold.top_k(3).indices).all()


# --- sets of members --------------------------------------------------------------------------------------

ALL = Rerankers({("b",): BY_FIRST, ("a", "b"): BY_SECOND, ("a", "b", "c"): BY_FIRST}, warm=BY_SECOND)


def test_a_set_of_members_has_its_reranker() -> None:
    assert ALL.of(("a", "b")).only is BY_SECOND
    assert ALL.of(("b",)).only is BY_FIRST
    with pytest.raises(KeyError):
        ALL.of(("a",))


def test_the_reranker_for_revealed_labels_is_for_all_members_together() -> None:
    assert ALL.of(("a", "b", "c")).warm is BY_SECOND
    assert ALL.of(("a", "b")).warm is None


def test_fewer_members_have_the_rerankers_of_their_own_sets() -> None:
    fewer = ALL.among(("a", "b"))
    assert list(fewer.by_members) == [("b",), ("a", "b")]
    assert fewer.warm is None
    assert list(ALL.among(("a", "b", "c")).by_members) == list(ALL.by_members)
    assert ALL.among(("a", "b", "c")).warm is BY_SECOND
