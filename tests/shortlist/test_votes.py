"""Votes of near documents against a dense product."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail import threads
from longtail.errors import UsageError
from longtail.shortlist.votes import first_votes, votes


def labels_of(rng: np.random.Generator, nodes: int, labels: int) -> csr_array:
    return csr_array((rng.random((nodes, labels)) < 0.3).astype(np.float32))


@given(st.integers(0, 2**31), st.integers(0, 40), st.integers(0, 6), st.integers(1, 9), st.integers(1, 7))
def test_votes_are_a_product(seed: int, n: int, m: int, nodes: int, labels: int) -> None:
    rng = np.random.default_rng(seed)
    known = labels_of(rng, nodes, labels)
    voters = rng.integers(-1, nodes, (n, m)).astype(np.int32)
    weights = rng.random((n, m)).astype(np.float32)
    table = np.zeros((n, nodes))
    rows = np.repeat(np.arange(n), m)[(voters >= 0).ravel()]
    np.add.at(table, (rows, voters[voters >= 0]), weights[voters >= 0])
    found = votes(voters, weights, known)
    np.testing.assert_allclose(found.to_csr(labels).toarray(), table @ known.toarray(), rtol=1e-5, atol=1e-6)
    assert all((np.diff(row.ids) > 0).all() for row in (found.take(i, i + 1) for i in range(n)))


@given(st.integers(0, 2**31), st.integers(1, 20), st.integers(0, 6))
def test_the_first_voter_of_a_label(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    known = labels_of(rng, 8, 5)
    voters = rng.integers(-1, 8, (n, m)).astype(np.int32)
    weights = rng.random((n, m)).astype(np.float32)
    expected = np.zeros((n, 5), np.float32)
    for i in range(n):
        for j in reversed(range(m)):
            if voters[i, j] >= 0:
                expected[i, known[[voters[i, j]]].indices] = weights[i, j]
    found = first_votes(voters, weights, known)
    assert (found.to_csr(5).toarray() == expected).all()
    assert found.ids.tolist() == votes(voters, weights, known).ids.tolist()


def test_a_label_without_weight_is_a_candidate_and_threads_do_not_matter() -> None:
    known = csr_array(np.array([[1, 0, 1], [0, 0, 1]], np.float32))
    found = votes(np.array([[1, -1], [0, 1]]), np.array([[0.0, 9.0], [2.0, 3.0]]), known)
    assert found.ids.tolist() == [2, 0, 2]
    assert found.scores.tolist() == [0, 2, 5]
    rng = np.random.default_rng(0)
    known, voters, weights = labels_of(rng, 50, 30), rng.integers(-1, 50, (200, 5)), rng.random((200, 5))
    with threads.limit(1):
        alone = votes(voters, weights, known)
    with threads.limit(2):
        both = votes(voters, weights, known)
    assert alone.scores.tobytes() == both.scores.tobytes()
    assert alone.ids.tolist() == both.ids.tolist()


def test_voters_that_are_not_there_are_an_error() -> None:
    known = csr_array(np.ones((2, 2), np.float32))
    with pytest.raises(UsageError, match="do not fit"):
        votes(np.array([[2]]), np.ones((1, 1)), known)
    with pytest.raises(UsageError, match="do not fit"):
        votes(np.array([[1]]), np.ones((1, 2)), known)
